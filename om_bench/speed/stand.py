"""The stand that everything is measured on: one store, our client and workers on it, the bare client library; and its figures."""

import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from statistics import median

import msgspec
import redis

from om_api.cli.embedded import Embedded
from om_bench.harness.pipeline import Pipeline, pipeline

# what is read and activated is as large as it has always been here, whatever the defaults are
_SIZES = ("prompt_cache.timing=threshold", "buffer_activation=0.8", "reflection.buffer_activation=0.5")


class Figure(msgspec.Struct, frozen=True, kw_only=True):
    """One line of the report.

    `value` is what is held against `reach` (None: it is told and not judged): a ratio of ours to its reference, or what
    `unit` says. `ours` and `reference` are what it was made of, in words for people ("83.1 us").
    """

    work: str
    ours: str
    reference: str
    value: float
    reach: float | None
    unit: str = "x"
    at_least: bool = False

    @property
    def met(self) -> bool | None:
        """Whether the target was reached; None without one."""
        if self.reach is None:
            return None
        return self.value >= self.reach if self.at_least else self.value <= self.reach


def us(seconds: float) -> str:
    """A duration for people, in microseconds."""
    return f"{seconds * 1e6:,.1f} us"


def slow(durations: list[float]) -> float:
    """What one in a hundred takes, or longer."""
    return sorted(durations)[int(len(durations) * 0.99)]


def timed(work: Callable[[], object]) -> float:
    """How long one call took, in seconds."""
    start = time.perf_counter()
    work()
    return time.perf_counter() - start


def side_by_side(
    ours: Callable[[], object], reference: Callable[[], object], rounds: int
) -> tuple[list[float], list[float]]:
    """Durations of both in seconds, call by call in turns, so that what slows the machine down slows both."""
    pairs = [(timed(ours), timed(reference)) for _ in range(rounds)]
    return [one for one, _ in pairs], [other for _, other in pairs]


def beside(work: str, ours: list[float], reference: list[float], reach: float, what: str = "") -> Figure:
    """The median of our durations over that of their reference, which `what` names."""
    one, other = median(ours), median(reference)
    named = f"{us(other)}: {what}" if what else us(other)
    return Figure(work=work, ours=us(one), reference=named, value=one / other, reach=reach)


class Stand:
    """A store at `url`: `running` is our client and the workers behind it, `bare` is redis-py with nothing of ours."""

    def __init__(self, url: str, running: Pipeline, bare: redis.Redis) -> None:
        self.url, self.running, self.bare = url, running, bare
        self.om = running.om

    def used(self, keys: str = "om-bench:*") -> int:
        """The bytes of some keys, their names and all that they hold."""
        names = self.bare.scan_iter(keys, count=10_000)
        return sum(self.bare.memory_usage(name, samples=0) or 0 for name in names)

    def clear(self) -> None:
        """Leave the store as it was found."""
        for key in self.bare.scan_iter("om-bench:*", count=10_000):
            self.bare.delete(key)


@contextmanager
def stand(url: str | None) -> Iterator[Stand]:
    """A stand on the store of `url`, whose keys `om-bench:…` it uses, or on one of its own; StoreError when it is away."""
    if url is None:
        with Embedded() as store, stand(store.url) as made:
            yield made
        return
    with pipeline(url, _SIZES) as running, redis.Redis.from_url(url) as bare:
        running.om.ping()
        yield Stand(url, running, bare)

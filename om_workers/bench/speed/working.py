"""What a worker process costs by itself, and how many calls of models it keeps in flight: real Celery processes, seen from outside."""

from __future__ import annotations

import os
import time
from contextlib import ExitStack, contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, NamedTuple

import redis

from om_api import Message, ObservationalMemory, load_settings
from om_api.cli.children import BEAT, WORKER, Child
from om_api.cli.embedded import Embedded
from om_api.errors import StoreError
from om_workers.bench.figures import Figure
from om_workers.bench.speed.thinking import Thinking

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from om_workers.bench.speed.stand import Stand

_PREFIX = "om-bench"
_YAML = """
observational_memory: {{observer_model: thinking, reflector_model: thinking, observer_interval: 1s}}
models: {{thinking: {{provider: openai, base_url: "{url}"}}}}
"""
_TEXT = "The report about the harbour is due on Thursday, and Ada wants the figures of the second quarter in it. " * 4
_MESSAGES, _TOKENS = 60, 100  # what they say they weigh: a chunk of 6,000 tokens
_IDLE_S = 3.0
_PATIENCE_S = 120.0
_POLL_S = 0.02
_OBSERVED, _CALLS, _THREADS = 100, 450, 450
_REACH_MS, _REACH_CALLS = 10, 400


def worker_cpu(_stand: Stand) -> Iterator[Figure]:
    """Processor time of a worker process for each observation of 6,000 tokens, its whole way, what it takes idle left out."""
    with _working(Thinking(), 32) as at:
        at.observe(8)  # the first ones load vocabularies and connections
        idle = _while(at.cpu, lambda: time.sleep(_IDLE_S)) / _IDLE_S
        began = time.monotonic()
        spent = _while(at.cpu, lambda: at.observe(_OBSERVED)) - idle * (time.monotonic() - began)
    each = 1_000 * spent / _OBSERVED
    work = "worker's own processor time for an observation of 6,000 tokens, a model that answers at once"
    yield Figure(work=work, ours=f"{each:.1f} ms", reference="", value=each, reach=_REACH_MS, unit="ms")


def calls_in_flight(_stand: Stand) -> Iterator[Figure]:
    """Calls of a model that takes a second, in flight at once out of one worker process, as the model counts them."""
    with _working(Thinking(1.0), _THREADS) as at:
        at.observe(8)
        at.observe(2 * _CALLS)
        most = at.model.most
    work = f"calls of a model in flight out of one worker process (-c {_THREADS}), a model that takes 1 s"
    yield Figure(
        work=work, ours=f"{most} calls", reference="", value=most, reach=_REACH_CALLS, unit="calls", at_least=True
    )


class _Working(NamedTuple):
    om: ObservationalMemory
    model: Thinking
    bare: redis.Redis
    worker: Child

    def observe(self, count: int) -> None:
        """Have a chunk of so many resources each observed, and return when all of that is done."""
        before, named = self._observed(), time.time_ns()
        for n in range(count):
            self.om.add_messages(_said(f"agent-{named}-{n}"))
        _wait(lambda: self._observed() >= before + count, f"{count} observations")

    def cpu(self) -> float:
        """Seconds of processor time that the worker process took so far."""
        user, system = Path(f"/proc/{self.worker.pid}/stat").read_text().rpartition(")")[2].split()[11:13]
        return (int(user) + int(system)) / os.sysconf("SC_CLK_TCK")

    def _observed(self) -> int:
        return int(self.bare.hget(f"{_PREFIX}:counted", "observations") or 0)


def _said(resource: str) -> list[Message]:
    return [
        Message(role="user", content=_TEXT, tokens=_TOKENS, thread_id="t-1", resource_id=resource)
        for _ in range(_MESSAGES)
    ]


@contextmanager
def _working(model: Thinking, threads: int) -> Iterator[_Working]:
    """A store, a model, a beat and a worker of so many threads, each a process or thread of its own, ready to work."""
    with ExitStack() as held:
        store, folder = held.enter_context(Embedded()), Path(held.enter_context(TemporaryDirectory(prefix="om-bench-")))
        held.enter_context(model)
        (folder / "observational-memory.yaml").write_text(_YAML.format(url=model.url))
        ours = {"OM_REDIS_URL": store.url, "OM_PREFIX": _PREFIX, "OM_CONFIG_DIR": str(folder)}
        environ = {name: text for name, text in os.environ.items() if not name.startswith("OM_")} | ours
        said: list[str] = []
        worker, beat = (
            Child(words, environ, lambda _, line: said.append(line)) for words in ([*WORKER, "-c", str(threads)], BEAT)
        )
        for child in (worker, beat):
            child.start()
            held.callback(child.stop, 0)
        om = held.enter_context(ObservationalMemory(load_settings(environ=ours)))
        _wait(lambda: any("ready." in line for line in said), "the worker")
        yield _Working(om, model, held.enter_context(redis.Redis.from_url(store.url)), worker)


def _while(cost: Callable[[], float], work: Callable[[], None]) -> float:
    before = cost()
    work()
    return cost() - before


def _wait(met: Callable[[], bool], what: str) -> None:
    end = time.monotonic() + _PATIENCE_S
    while not met():
        if time.monotonic() > end:
            raise StoreError(f"{what} did not come within {_PATIENCE_S:.0f} s: see that nothing else keeps the machine busy")
        time.sleep(_POLL_S)

"""Fleets of one, two and four worker processes on one backlog: how fast each works it off, and what that takes of processors."""

import itertools
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from typing import NamedTuple

import msgspec
import redis

from om_api import ObservationalMemory, load_settings
from om_api.cli.children import BEAT, WORKER, Child
from om_api.cli.embedded import Embedded
from om_api.store.memory.keys import Keys
from om_bench.harness.page import table
from om_bench.harness.processes import cpu_s, idle_s, resident, wait
from om_bench.speed.backlog import come_due, waiting
from om_bench.speed.thinking import Thinking
from om_bench.speed.working import PREFIX, configured, start

_ROUNDS, _FIRST = 8, 2  # of one task for each thread: those that are measured, and those before them
_SETTLING_S = 60.0  # until processes have started, and the first tick has come
_SLOW = 5  # times as long as the model's time alone wants: then it is given up
_GRACE_S = 60.0  # in which a worker ends what it has in hand
_POLL_S, _LOOK_EVERY = 0.01, 50  # each look at the queues costs the broker something
_REACH = 1.1
_MODELS = (*WORKER, "-Q", "observe,reflect")
_TURN_S = 0.01  # for a turn: then it is given up
_NO_CLOCK = -4_000_000_000_000  # ms; what stands below has its turn


class DrainPlan(msgspec.Struct, frozen=True, kw_only=True):
    """So many agents due at once, the fleets that work on them one after the other, and the seconds of a model's call."""

    agents: int
    workers: tuple[int, ...]
    concurrency: int
    seconds: float


class Drained(msgspec.Struct, frozen=True, kw_only=True):
    """What one fleet did: so many observations in so many seconds, its longest queue, and what each observation took.

    Processor time is in ms: of the worker processes, of the server of the memories, of that of the tasks, and of the model
    that this process plays. `resident` is the memory of a worker process in bytes. `cores` is how much of the machine was left
    for all of this by whatever else runs on it.
    """

    workers: int
    observed: int
    seconds: float
    queue: int
    worker_ms: float
    store_ms: float
    broker_ms: float
    model_ms: float
    resident: int
    cores: float

    @property
    def rate(self) -> float:
        """Observations a second."""
        return self.observed / self.seconds


class Drain(msgspec.Struct, frozen=True, kw_only=True):
    """What all fleets did, one after the other."""

    plan: DrainPlan
    fleets: list[Drained]

    def alone(self, fleet: Drained) -> float:
        """What the model's time alone wants for what a fleet did: work x the model's time / concurrency."""
        return fleet.observed * self.plan.seconds / (fleet.workers * self.plan.concurrency)


class _Stand(NamedTuple):
    store: int
    broker: int
    memories: redis.Redis
    queues: redis.Redis
    model: Thinking
    ours: dict[str, str]


def measure(plan: DrainPlan) -> Drain:
    """Let agents come due while nobody works, then have one fleet after the other work on them for some rounds."""
    with _stand(plan) as at:
        return Drain(plan=plan, fleets=[_drained(plan, workers, at) for workers in plan.workers])


@contextmanager
def _stand(plan: DrainPlan) -> Iterator[_Stand]:
    """A backlog on a server of its own, another server for the tasks, a model, and a beat."""
    with ExitStack() as held:
        model, broker = held.enter_context(Thinking(plan.seconds)), held.enter_context(Embedded())
        store = held.enter_context(Embedded())
        ours = configured(held, {"provider": "openai", "base_url": model.url}, store)
        ours["OM_BROKER_URL"] = broker.url
        with ObservationalMemory(load_settings(environ=ours)) as om:
            come_due(om, plan.agents)
        start(
            held, [*WORKER, "-Q", "ticks", "-c", "2", "-n", "ticks"], ours
        )  # nobody sweeps: that is of no observation
        start(held, BEAT, ours)
        memories, queues = (held.enter_context(redis.Redis.from_url(each.url)) for each in (store, broker))
        yield _Stand(store.pid or 0, broker.pid or 0, memories, queues, model, ours)


def _drained(plan: DrainPlan, workers: int, at: _Stand) -> Drained:
    each = workers * plan.concurrency
    with ExitStack() as held:
        fleet = [start(held, [*_MODELS, "-c", str(plan.concurrency), "-n", f"w{n}"], at.ours) for n in range(workers)]
        queue = _answered(at, at.model.answered + _FIRST * each, _SETTLING_S + _SLOW * _FIRST * plan.seconds)
        _turns_given(plan, at)
        before, began, first, idle = _spent(at, fleet), time.monotonic(), at.model.answered, idle_s()
        queue = max(queue, _answered(at, first + _ROUNDS * each, _SLOW * _ROUNDS * max(plan.seconds, 1)))
        seconds, observed = time.monotonic() - began, at.model.answered - first
        took = [now - then for now, then in zip(_spent(at, fleet), before, strict=True)]
        cores = (sum(took) + idle_s() - idle) / seconds
        spent = [1_000 * each / observed for each in took]
        memory = sum(resident(child.pid) for child in fleet) // workers
        _end(fleet)
    return Drained(
        workers=workers, observed=observed, seconds=round(seconds, 2), queue=queue, worker_ms=round(spent[0], 2),
        store_ms=round(spent[1], 3), broker_ms=round(spent[2], 3), model_ms=round(spent[3], 3),
        resident=memory, cores=round(cores, 2),
    )  # fmt: skip


def _turns_given(plan: DrainPlan, at: _Stand) -> None:
    """Wait until all that is due has its turn, and so stands at a time that no clock says: that is no part of an observation."""

    def given() -> bool:
        return not at.memories.zcount(Keys(PREFIX).due_observe, _NO_CLOCK, at.memories.time()[0] * 1_000)

    wait(given, "the turns of what came due", _LOOK_EVERY * _POLL_S, _SETTLING_S + plan.agents * _TURN_S)


def _answered(at: _Stand, calls: int, patience: float) -> int:
    """Wait until the model has answered so many calls; the longest queue meanwhile."""
    longest, polls = 0, itertools.count()

    def answered() -> bool:
        nonlocal longest
        if next(polls) % _LOOK_EVERY == 0:
            longest = max(longest, waiting(at.queues))
        return at.model.answered >= calls

    wait(answered, f"{calls} calls", _POLL_S, patience)
    return longest


def _spent(at: _Stand, fleet: Sequence[Child]) -> tuple[float, ...]:
    return sum(cpu_s(child.pid) for child in fleet), cpu_s(at.store), cpu_s(at.broker), time.process_time()


def _end(fleet: Sequence[Child]) -> None:
    """Have all of them end what they have in hand, so that the next fleet is counted without them."""
    for child in fleet:
        child.ask_to_end()
    for child in fleet:
        child.stop(_GRACE_S)


def as_lines(found: Drain) -> Iterator[str]:
    """What was found, as Markdown."""
    plan = found.plan
    yield (
        f"{plan.agents:,} agents came due while nobody worked; then fleets of {_said(plan.workers, str)} worker processes with"
        f" {plan.concurrency} threads each worked on them one after the other, with a model that takes {plan.seconds:g} s."
    )
    yield from table(
        ["worker processes", "observations", "took", "the model's time alone", "ratio", f"reach {_REACH:g} met", "a second",
         "longest queue (bound)", "CPU of workers", "of the store", "of the broker", "memory of a worker"],
        [_row(found, fleet) for fleet in found.fleets],
    )  # fmt: skip


def _row(found: Drain, fleet: Drained) -> Sequence[str]:
    alone, bound = found.alone(fleet), fleet.workers * found.plan.concurrency
    ratio = fleet.seconds / alone
    return [
        str(fleet.workers), f"{fleet.observed:,}", f"{fleet.seconds:.1f} s", f"{alone:.1f} s", f"{ratio:.2f}",
        "yes" if ratio <= _REACH else "**no**", f"{fleet.rate:.1f}", f"{fleet.queue} ({2 * bound})",
        f"{fleet.worker_ms:.1f} ms", f"{fleet.store_ms:.2f} ms", f"{fleet.broker_ms:.2f} ms",
        f"{fleet.resident / 1e6:.0f} MB",
    ]  # fmt: skip


def _said(numbers: Sequence[int], write: Callable[[int], str]) -> str:
    *first, last = map(write, numbers)
    return f"{', '.join(first)} and {last}" if first else last

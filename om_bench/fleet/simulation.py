"""A fleet of worker processes at work, event by event: tasks come due, get their turn, wait, are begun, ask a model, and end."""

import math
import random
from collections import deque
from collections.abc import Iterable, Iterator
from functools import partial

import msgspec

from om_bench.fleet.clock import Call, Clock, Servers
from om_bench.fleet.turns import DueTask, FairTurns


class Duration(msgspec.Struct, frozen=True):
    """Durations in seconds: their mean, and how far they spread, as standard deviation / mean; 0: all are the same."""

    mean: float
    spread: float = 0.0

    def draw(self, chance: random.Random) -> float:
        """One of them, of a log-normal distribution."""
        if not self.spread:
            return self.mean
        variance = math.log(1 + self.spread**2)
        return chance.lognormvariate(math.log(self.mean) - variance / 2, math.sqrt(variance))


class Fleet(msgspec.Struct, frozen=True, kw_only=True):
    """Worker processes with threads, and what an observation takes, in seconds.

    `worker_s` of its worker's processor, `store_s` of one of the stores, `broker_s` of the broker, `limit_s` of the one server
    that counts calls against the model's limits.
    `cores`: all of it, and `beside_s` of whatever else runs there, is on one machine of so many; None: nobody lacks a core.
    """

    workers: int
    threads: int
    worker_s: float = 0.0
    store_s: float = 0.0
    broker_s: float = 0.0
    limit_s: float = 0.0
    beside_s: float = 0.0
    stores: int = 1
    cores: int | None = None
    tick_s: float = 10.0
    calls_per_minute: float | None = None

    @property
    def places(self) -> int:
        """How many tasks run at a time: as many may wait in the queue."""
        return self.workers * self.threads


class Played(msgspec.Struct, frozen=True, kw_only=True):
    """What came of it: tasks that ended, when each did, how long each waited from being due to being begun, in this order.

    `left` are still due, waiting or at work; `queue` is the longest queue of all; `busy` the share of the time in which
    worker processes, stores and the broker worked, and threads were taken.
    """

    seconds: float
    ended: list[float]
    waits: list[tuple[str, float]]
    left: int
    queue: int
    busy: dict[str, float]

    def wait(self, share: float, resource: str | None = None) -> float:
        """The wait that this share of the tasks, of a resource or of all, did not exceed."""
        waits = sorted(wait for name, wait in self.waits if resource in {None, name})
        return waits[min(len(waits) - 1, int(len(waits) * share))] if waits else math.nan


def backlog(count: int, model: Duration, seed: int = 1) -> Iterator[DueTask]:
    """As many agents as that, all due at the beginning."""
    chance = random.Random(seed)
    for number in range(count):
        yield DueTask(f"agent-{number}", 0.0, model.draw(chance))


def arrivals(rate: float, seconds: float, model: Duration, seed: int = 1) -> Iterator[DueTask]:
    """Agents that come due by chance (Poisson), so many a second, each by itself."""
    chance, at = random.Random(seed), 0.0
    while (at := at + chance.expovariate(rate)) < seconds:
        yield DueTask(f"agent-{at}", at, model.draw(chance))


def simulate(fleet: Fleet, tasks: Iterable[DueTask], until: float = math.inf, *, ticks: bool = True) -> Played:
    """Let a fleet work on tasks, in the order in which they come due, until then or until all is done.

    Without `ticks` what comes due is handed out at once. The same tasks come to the same.
    """
    return _Run(fleet, ticks=ticks).play(iter(tasks), until)


class _Run:
    def __init__(self, fleet: Fleet, *, ticks: bool) -> None:
        self._fleet, self._ticks, self._clock, self._due = fleet, ticks, Clock(), FairTurns()
        cores = Servers(self._clock, fleet.cores) if fleet.cores else None
        self._processes = [Servers(self._clock, 1, cores) for _ in range(fleet.workers)]
        self._stores = Servers(self._clock, fleet.stores, cores)
        self._broker, self._beside, self._limits = (Servers(self._clock, 1, cores) for _ in range(3))
        self._free = deque(range(fleet.workers)) * fleet.threads
        self._queue: deque[DueTask] = deque()
        self._called = 0.0
        self._held_s = 0.0
        self._longest = self._at_work = 0
        self._ended: list[float] = []
        self._waits: list[tuple[str, float]] = []

    def play(self, tasks: Iterator[DueTask], until: float) -> Played:
        self._more = True
        self._come(tasks)
        if self._ticks:
            self._tick()
        self._clock.run(until)
        seconds = until if until < math.inf else self._clock.now
        return Played(
            seconds=seconds, ended=self._ended, waits=self._waits, queue=self._longest,
            left=len(self._due) + len(self._queue) + self._at_work, busy=self._busy(max(seconds, 1e-9)),
        )  # fmt: skip

    def _busy(self, seconds: float) -> dict[str, float]:
        fleet = self._fleet
        return {
            "worker processes": sum(each.busy_s for each in self._processes) / seconds / fleet.workers,
            "stores": self._stores.busy_s / seconds / fleet.stores,
            "broker": self._broker.busy_s / seconds,
            "limits": self._limits.busy_s / seconds,
            "threads": self._held_s / seconds / fleet.places,
        }

    def _come(self, tasks: Iterator[DueTask], come: DueTask | None = None) -> None:
        """Have a task come due, all that do so at the same time, and wait for the next."""
        while come is None or come.due_s <= self._clock.now:
            if come:
                self._due.add(come)
            if (come := next(tasks, None)) is None:
                self._more = False
                break
        if not self._ticks:
            self._admit()
        if come:
            self._clock.after(come.due_s - self._clock.now, partial(self._come, tasks, come))

    def _tick(self) -> None:
        self._admit()
        if self._more or len(self._due) or self._queue or self._at_work:
            self._clock.after(self._fleet.tick_s, self._tick)

    def _admit(self) -> None:
        self._due.admit()
        self._fill(least=1)
        self._begin()

    def _fill(self, least: int) -> bool:
        """Hand out what comes next, as far as there is room, if that is for as many as `least`."""
        room = self._fleet.places - len(self._queue)
        handed = self._due.take(room) if room >= least else []
        self._queue.extend(handed)
        self._longest = max(self._longest, len(self._queue))
        return bool(handed)

    def _begin(self) -> None:
        """Begin as many as there are threads free; whoever begins hands out the next."""
        while self._queue and self._free:
            task, worker = self._queue.popleft(), self._free.popleft()
            self._waits.append((task.resource, self._clock.now - task.due_s))
            self._at_work += 1
            least = max(1, self._fleet.places // 4)
            if not self._fill(least) and self._fleet.places - len(self._queue) >= least:
                self._due.admit()
                self._fill(least)
            self._work(task, worker)

    def _work(self, task: DueTask, worker: int) -> None:
        """Half of what an observation takes comes before the call of the model, half behind it."""
        fleet, began, process = self._fleet, self._clock.now, self._processes[worker]

        def end() -> None:
            self._held_s += self._clock.now - began
            self._at_work -= 1
            self._ended.append(self._clock.now)
            self._free.append(worker)
            self._begin()

        def half(then: Call) -> Call:
            stored = partial(self._stores.use, fleet.store_s / 2, then)
            return partial(process.use, fleet.worker_s / 2, stored)

        answered = partial(self._beside.use, fleet.beside_s, half(end))
        asked = partial(self._limits.use, fleet.limit_s, partial(self._call, task, answered))
        self._broker.use(fleet.broker_s, half(asked))

    def _call(self, task: DueTask, then: Call) -> None:
        """Ask the model, when its limit lets us: calls are spread over the minute."""
        if self._fleet.calls_per_minute:
            self._called = max(self._clock.now, self._called + 60 / self._fleet.calls_per_minute)
        self._clock.after(max(0.0, self._called - self._clock.now) + task.model_s, then)

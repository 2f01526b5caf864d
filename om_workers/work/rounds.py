"""What ticks do: pass on what is due, and what plain writers hint at, once in a slot however many beats there are."""

import time
from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping
from functools import partial
from itertools import chain, zip_longest
from typing import NamedTuple

import msgspec
import structlog

from om_api.domain.errors import OMError
from om_api.domain.timing.chance import chance
from om_api.domain.values import Outcome
from om_api.store.driver.partitions import learn
from om_api.store.driver.replies import as_bool
from om_api.store.driver.steps import Steps
from om_api.store.driver.tolerant_read import UNREADABLE
from om_api.store.fleet import health, model_trials, presence
from om_api.store.fleet.presence import Ticked
from om_api.store.memory import due, keyspace_scan
from om_api.store.memory.keys import Keys
from om_api.telemetry import spans
from om_workers.work.archiver import Archiver
from om_workers.work.dispatcher import Dispatched, Dispatcher
from om_workers.work.sampling import Sampler
from om_workers.work.services import Services
from om_workers.work.sweep import Sweeper
from om_workers.work.webhooks import WebhookRound

SWEEP_S = 60.0
ARCHIVE_S = 60.0
_log = structlog.get_logger("om_workers")
_QUEUE = "maintenance"
_AT_ONCE = 500
_MOST = 50_000  # that are looked at in one tick
_KEYS = 50  # that one task adopts
_TRIALS = 20  # test calls that are passed on in one tick


class RoundResult(NamedTuple):
    """What a round came to: `rest` when made, `busy` when another beat came first, `failed` when the store was away.

    `did` counts what one that was made passed on or mended; `error` names what ended one that failed.
    """

    outcome: Outcome
    did: Mapping[str, int] = {}
    error: str = ""


class Rounds:
    """One process' rounds."""

    def __init__(
        self,
        services: Services,
        dispatcher: Dispatcher,
        roll_out: Callable[[float], int],
        archiver: Archiver | None = None,
    ) -> None:
        self._services = services
        self._dispatcher = dispatcher
        self._roll_out = roll_out
        self._archiver = archiver or Archiver(services)

    def observe(self) -> RoundResult:
        """Pass on what is due to be observed, and what plain writers left to be adopted."""
        return self._dispatch("observer", "observe", self._services.settings.memory.observer_interval, self._beside)

    def reflect(self) -> RoundResult:
        """Pass on what is due to be reflected."""
        return self._dispatch("reflector", "reflect", self._services.settings.memory.reflector_interval, lambda _: {})

    def sweep(self) -> RoundResult:
        """Make good what pushes, tasks and dead workers left undone; and now and then note how much there is."""

        def swept(_: float) -> dict[str, int]:
            did = Sweeper(self._services).sweep()._asdict()
            return {**did, "sampled": int(Sampler(self._services).sample())}

        return _tick("sweep", self._services, SWEEP_S, swept)

    def webhooks(self) -> RoundResult:
        """Send what happened to whoever wants to be sent it."""
        interval = self._services.settings.memory.webhooks.interval
        return _tick("webhooks", self._services, interval, lambda _: WebhookRound(self._services).deliver()._asdict())

    def archive(self) -> RoundResult:
        """Move what is old enough to the archive, where there is one."""
        if self._services.settings.memory.archived is None:
            return RoundResult(Outcome.REST)
        archiver = self._archiver
        return _tick("archive", self._services, ARCHIVE_S, lambda s: archiver.round(s / 2)._asdict())

    def _beside(self, interval: float) -> dict[str, int]:
        told, services = self._roll_out(interval / 4), self._services
        tried = min(_TRIALS, services.run(model_trials.waiting(services.keys)))
        services.queues.try_models(tried)
        return {"hints": pass_on(services, self._dispatcher, interval / 4), "told": told, "tried": tried}

    def _dispatch(
        self, name: str, queue: str, interval: float, beside: Callable[[float], dict[str, int]]
    ) -> RoundResult:
        """A tick over a due index. Where it has several parts, as many workers as there are share them.

        Time 0: the first tick of a slot has one more tick sent for each other worker. Time 1: whoever runs one leases a part,
        hands out what is due in it, and leases the next, until none is left. Time 2: one dies; its part is late by a tick.
        """
        layout, services = self._services.keys.layout, self._services

        def first(_: float) -> dict[str, int]:
            if layout.now.count > 1:
                others = min(layout.now.count, len(services.run(health.workers(services.keys)))) - 1
                services.queues.ticks(name, others)
            handed = self._hand_out(name, queue, interval)
            return {**handed._asdict(), **beside(interval)}

        came = _tick(name, services, interval, first, partial(self._behind, name, queue))
        if came.outcome is Outcome.BUSY and layout.now.count > 1:
            return _made(name, lambda: _if_any(self._hand_out(name, queue, interval)._asdict()))
        return came

    def _behind(self, name: str, queue: str, now: Ticked) -> Ticked:
        """A tick with what is due, and since when that is more than the fleet has room for."""
        run, before = self._services.run, self._services.run(health.tick(self._services.keys, name))
        now = msgspec.structs.replace(now, due=run(due.count(self._dispatcher.index(queue), now.at)))
        return now.behind(before) if now.due > self._dispatcher.room(queue) else now

    def _hand_out(self, name: str, queue: str, interval: float) -> Dispatched:
        """Hand out what is due in the parts that this tick comes to first; the guard of the tick is that of an only one."""
        keys, run, end = self._services.keys, self._services.run, time.monotonic() + interval / 2
        if keys.layout.now.count == 1:
            return self._dispatcher.fill(queue, interval / 2)
        total, numbers = Dispatched(), run(due.busy_parts(self._dispatcher.index(queue)))
        chance.shuffle(numbers)
        for number in numbers:
            left = max(0.0, end - time.monotonic())
            if left and run(_first_of_slot(keys, f"{name}:{number}", interval)):
                handed = self._dispatcher.fill(queue, left, number)
                total = Dispatched(total.due + handed.due, total.unknown + handed.unknown)
        return total


def _if_any(did: dict[str, int]) -> dict[str, int] | None:
    return did if any(did.values()) else None


def _tick(
    name: str,
    services: Services,
    interval: float,
    work: Callable[[float], dict[str, int]],
    seen: Callable[[Ticked], Ticked] = lambda now: now,
) -> RoundResult:
    """What work came to that is done once in a slot: several beats are one, whose tick comes first runs, the others' end.

    That it ran is noted first, with what it has `seen`.
    """

    def first() -> dict[str, int] | None:
        services.run(learn(services.keys.layout))
        if not services.run(_first_of_slot(services.keys, name, interval)):
            return None
        now = seen(Ticked(at=services.run(due.server_ms()), interval=interval))
        services.run(presence.ticked(services.keys, name, now))
        return work(interval)

    return _made(name, first)


def _made(name: str, work: Callable[[], dict[str, int] | None]) -> RoundResult:
    try:
        with spans.span("om.tick", "producer", tick=name) as span:
            did = work()
            if not did or not any(did.values()):
                span.leave()
            span.note(**did or {})
    except (OMError, *UNREADABLE) as error:  # the last of what somebody wrote where only we write
        _log.warning(f"{name}_failed", error=str(error)[:500])
        return RoundResult(Outcome.FAILED, error=type(error).__name__)
    if did is None:
        return RoundResult(Outcome.BUSY)
    if any(did.values()):
        _log.info(f"{name}_ticked", **did)
    return RoundResult(Outcome.REST, did)


def _first_of_slot(keys: Keys, name: str, interval: float) -> Steps[bool]:
    return (yield from as_bool("SET", keys.tick(name), 1, "NX", "PX", max(1, round(interval * 900))).writing())


def pass_on(services: Services, dispatcher: Dispatcher, seconds: float) -> int:
    """Have adopted what hints name, as much as workers can begin; the rest waits for the next tick. How many keys it was.

    Resources take turns: none waits behind thousands of keys of another. A hint of a key that holds nothing new is dropped.
    What the broker does not take waits too; raises StoreError then, and when the store is away.
    """
    tasks = dispatcher.room(_QUEUE) - services.queues.waiting(_QUEUE)
    if tasks <= 0:
        return 0
    found = _in_turns(services.keys, _taken(services, seconds))
    size = max(1, min(_KEYS, -(-len(found) // tasks)))
    ours, rest = found[: tasks * size], found[tasks * size :]
    services.run(keyspace_scan.hint(services.keys, rest))
    for start in range(0, len(ours), size):
        try:
            services.queues.adopt(*ours[start : start + size])
        except OMError:
            services.run(keyspace_scan.hint(services.keys, ours[start:]))
            raise
    return len(ours)


def _taken(services: Services, seconds: float) -> list[str]:
    end, looked, found = time.monotonic() + seconds, 0, list[str]()
    while looked < _MOST and time.monotonic() < end:
        names = services.run(keyspace_scan.waiting_for_adoption(services.keys, _AT_ONCE))
        looked += len(names)
        try:
            found += services.run(keyspace_scan.adoptable(services.keys, names))
        except OMError:
            services.run(keyspace_scan.hint(services.keys, [*found, *names]))
            raise
        if len(names) < _AT_ONCE:
            break
    return found


def _in_turns(keys: Keys, names: Iterable[str]) -> list[str]:
    of = defaultdict[str | None, list[str]](list)
    for name in names:
        if key := keys.parse_messages(name):
            of[key.resource].append(name)
    return [name for name in chain.from_iterable(zip_longest(*of.values())) if name]

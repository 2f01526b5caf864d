"""What ticks do: pass on what is due, and what plain writers hint at, once in a slot however many beats there are."""

import time
from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping
from itertools import chain, zip_longest
from typing import NamedTuple

import structlog

from om_api.domain.errors import OMError
from om_api.domain.values import Outcome
from om_api.store.driver.replies import as_bool
from om_api.store.driver.steps import Steps
from om_api.store.fleet import presence
from om_api.store.memory import due, keyspace_scan
from om_api.store.memory.keys import Keys
from om_workers.work.dispatcher import Dispatcher
from om_workers.work.services import Services
from om_workers.work.sweep import Sweeper
from om_workers.work.webhooks import WebhookRound

SWEEP_S = 60.0
_log = structlog.get_logger("om_workers")
_QUEUE = "maintenance"
_AT_ONCE = 500
_MOST = 50_000  # that are looked at in one tick
_KEYS = 50  # that one task adopts


class RoundResult(NamedTuple):
    """What a round came to: `rest` when made, `busy` when another beat came first, `failed` when the store was away.

    `did` counts what one that was made passed on or mended; `error` names what ended one that failed.
    """

    outcome: Outcome
    did: Mapping[str, int] = {}
    error: str = ""


class Rounds:
    """One process' rounds."""

    def __init__(self, services: Services, dispatcher: Dispatcher, roll_out: Callable[[float], int]) -> None:
        self._services = services
        self._dispatcher = dispatcher
        self._roll_out = roll_out

    def observe(self) -> RoundResult:
        """Pass on what is due to be observed, and what plain writers left to be adopted."""
        return _tick("observer", self._services, self._services.settings.memory.observer_interval, self._observe)

    def reflect(self) -> RoundResult:
        """Pass on what is due to be reflected."""
        interval = self._services.settings.memory.reflector_interval
        fill = self._dispatcher.fill
        return _tick("reflector", self._services, interval, lambda _: fill("reflect", interval / 2)._asdict())

    def sweep(self) -> RoundResult:
        """Make good what pushes, tasks and dead workers left undone."""
        return _tick("sweep", self._services, SWEEP_S, lambda _: Sweeper(self._services).sweep()._asdict())

    def webhooks(self) -> RoundResult:
        """Send what happened to whoever wants to be sent it."""
        interval = self._services.settings.memory.webhooks.interval
        return _tick("webhooks", self._services, interval, lambda _: WebhookRound(self._services).deliver()._asdict())

    def _observe(self, interval: float) -> dict[str, int]:
        told = self._roll_out(interval / 4)
        handed = self._dispatcher.fill("observe", interval / 2)
        hints = pass_on(self._services, self._dispatcher, interval / 4)
        return {**handed._asdict(), "hints": hints, "told": told}


def _tick(name: str, services: Services, interval: float, work: Callable[[float], dict[str, int]]) -> RoundResult:
    try:
        if not services.run(_first_of_slot(services.keys, name, interval)):
            return RoundResult(Outcome.BUSY)
        did = work(interval)
    except (OMError, ValueError) as error:  # the last of what somebody wrote where only we write
        _log.warning(f"{name}_failed", error=str(error)[:500])
        return RoundResult(Outcome.FAILED, error=type(error).__name__)
    if any(did.values()):
        _log.info(f"{name}_ticked", **did)
    return RoundResult(Outcome.REST, did)


def _first_of_slot(keys: Keys, name: str, interval: float) -> Steps[bool]:
    # Several beats are one: whose tick comes first in a slot runs, the others' end at once.
    won = yield from as_bool("SET", keys.tick(name), 1, "NX", "PX", max(1, round(interval * 900))).writing()
    if won:
        yield from presence.ticked(keys, name, (yield from due.server_ms()), interval)
    return won


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

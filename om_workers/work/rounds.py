"""What ticks do: find what is due and pass it on, once in a slot however many beats there are. They think nothing."""

from __future__ import annotations

from collections.abc import Callable

import structlog

from om_api.domain.errors import OMError
from om_api.domain.values import Outcome
from om_api.store.driver.replies import as_bool
from om_api.store.driver.steps import Steps
from om_api.store.fleet import presence
from om_api.store.memory import due
from om_api.store.memory.keys import Keys
from om_workers.work.dispatcher import Dispatcher
from om_workers.work.hints import pass_on
from om_workers.work.services import Services
from om_workers.work.sweep import Sweeper

SWEEP_S = 60.0
_log = structlog.get_logger("om_workers")


class Rounds:
    """One process' rounds: `rest` when made, `busy` when another beat came first, `failed` when the store was away."""

    def __init__(self, services: Services, dispatcher: Dispatcher, settings_changed: Callable[[], bool]) -> None:
        self._services = services
        self._dispatcher = dispatcher
        self._settings_changed = settings_changed

    def observe(self) -> Outcome:
        """Pass on what is due to be observed, and what plain writers left to be adopted."""
        return _tick("observer", self._services, self._services.settings.memory.observer_interval, self._observe)

    def reflect(self) -> Outcome:
        """Pass on what is due to be reflected."""
        return _tick("reflector", self._services, self._services.settings.memory.reflector_interval, self._reflect)

    def sweep(self) -> Outcome:
        """Make good what pushes, tasks and dead workers left undone."""
        return _tick("sweep", self._services, SWEEP_S, lambda _: Sweeper(self._services).sweep()._asdict())

    def _observe(self, interval: float) -> dict[str, int]:
        if self._settings_changed():
            Sweeper(self._services).apply_settings()
        handed = self._dispatcher.fill("observe", interval / 2)
        hints = pass_on(self._services, self._dispatcher, interval / 4)
        return {**handed._asdict(), "hints": hints}

    def _reflect(self, interval: float) -> dict[str, int]:
        return self._dispatcher.fill("reflect", interval / 2)._asdict()


def _tick(name: str, services: Services, interval: float, work: Callable[[float], dict[str, int]]) -> Outcome:
    try:
        if not services.run(_first_of_slot(services.keys, name, interval)):
            return Outcome.BUSY
        did = work(interval)
    except (OMError, ValueError) as error:  # the last of what somebody wrote where only we write
        _log.warning(f"{name}_failed", error=str(error)[:500])
        return Outcome.FAILED
    if any(did.values()):
        _log.info(f"{name}_ticked", **did)
    return Outcome.REST


def _first_of_slot(keys: Keys, name: str, interval: float) -> Steps[bool]:
    # Several beats are one: whose tick comes first in a slot runs, the others' end at once.
    won = yield from as_bool("SET", keys.tick(name), 1, "NX", "PX", max(1, round(interval * 900))).writing()
    if won:
        yield from presence.ticked(keys, name, (yield from due.server_ms()), interval)
    return won

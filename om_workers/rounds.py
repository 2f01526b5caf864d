"""What ticks do: find what is due and pass it on, once in a slot however many beats there are. They think nothing."""

from __future__ import annotations

from typing import TYPE_CHECKING

import structlog

from om_api.errors import OMError
from om_api.store import due, presence
from om_api.store.steps import Batch
from om_api.values import Outcome
from om_workers.hints import pass_on
from om_workers.sweep import Sweep

if TYPE_CHECKING:
    from collections.abc import Callable

    from om_api.store.keys import Keys
    from om_api.store.steps import Steps
    from om_workers.dispatcher import Dispatcher
    from om_workers.workshop import Workshop

SWEEP_S = 60.0
_log = structlog.get_logger("om_workers")


class Rounds:
    """One process' rounds: `rest` when made, `busy` when another beat came first, `failed` when the store was away."""

    def __init__(self, workshop: Workshop, dispatcher: Dispatcher, settings_changed: Callable[[], bool]) -> None:
        self._shop = workshop
        self._dispatcher = dispatcher
        self._settings_changed = settings_changed

    def observe(self) -> Outcome:
        """Pass on what is due to be observed, and what plain writers left to be adopted."""
        return _tick("observer", self._shop, self._shop.settings.memory.observer_interval, self._observe)

    def reflect(self) -> Outcome:
        """Pass on what is due to be reflected."""
        return _tick("reflector", self._shop, self._shop.settings.memory.reflector_interval, self._reflect)

    def sweep(self) -> Outcome:
        """Make good what pushes, tasks and dead workers left undone."""
        return _tick("sweep", self._shop, SWEEP_S, lambda _: Sweep(self._shop).sweep()._asdict())

    def _observe(self, interval: float) -> dict[str, int]:
        if self._settings_changed():
            Sweep(self._shop).apply_settings()
        handed = self._dispatcher.fill("observe", interval / 2)
        hints = pass_on(self._shop, self._dispatcher, interval / 4)
        return {**handed._asdict(), "hints": hints}

    def _reflect(self, interval: float) -> dict[str, int]:
        return self._dispatcher.fill("reflect", interval / 2)._asdict()


def _tick(name: str, shop: Workshop, interval: float, work: Callable[[float], dict[str, int]]) -> Outcome:
    try:
        if not shop.run(_first_of_slot(shop.keys, name, interval)):
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
    (won,) = yield Batch([("SET", keys.tick(name), 1, "NX", "PX", max(1, round(interval * 900)))], writes=True)
    if won:
        yield from presence.ticked(keys, name, (yield from due.server_ms()), interval)
    return bool(won)

"""What ticks do: find what is due and pass it on, once in a slot however many beats there are. They think nothing."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING

import structlog

from om_api.errors import OMError
from om_api.store import due, presence, survey
from om_api.store.steps import Batch
from om_api.values import Outcome, Scope
from om_workers.sweep import Sweep

if TYPE_CHECKING:
    from collections.abc import Callable

    from om_api.store.keys import Keys
    from om_api.store.steps import Steps
    from om_workers.workshop import Workshop

SWEEP_S = 60.0
_CLAIMS = 500
_HINTS = 500
_log = structlog.get_logger("om_workers")


class Rounds:
    """One process' rounds: `rest` when made, `busy` when another beat came first, `failed` when the store was away."""

    def __init__(self, workshop: Workshop, settings_changed: Callable[[], bool]) -> None:
        self._shop = workshop
        self._run = workshop.run
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
        keys, dispatch = self._shop.keys, self._shop.dispatch
        if self._settings_changed():
            Sweep(self._shop).apply_settings()
        hints = self._run(survey.waiting_for_adoption(keys, _HINTS))
        for key in hints:
            dispatch.adopt(key)
        return {"due": self._pass_on(keys.due_observe, dispatch.observe, interval / 2), "hints": len(hints)}

    def _reflect(self, interval: float) -> dict[str, int]:
        return {"due": self._pass_on(self._shop.keys.due_reflect, self._shop.dispatch.reflect, interval / 2)}

    def _pass_on(self, index: str, dispatch: Callable[[str, str], None], seconds: float) -> int:
        """Claim and pass on whatever is due, in slices, for at most `seconds`; how many it was."""
        end, total = time.monotonic() + seconds, 0
        while time.monotonic() < end:
            claims = self._run(due.claim(index, _CLAIMS))
            known = [claim for claim in claims if Scope.is_one(claim.scope)]
            self._run(due.drop(index, [claim.scope for claim in claims if not Scope.is_one(claim.scope)]))
            for claim in known:
                dispatch(claim.scope, claim.lease)
            total += len(claims)
            if len(claims) < _CLAIMS:
                break
        return total


def _tick(name: str, shop: Workshop, interval: float, work: Callable[[float], dict[str, int]]) -> Outcome:
    try:
        if not shop.run(_first_of_slot(shop.keys, name, interval)):
            return Outcome.BUSY
        did = work(interval)
    except OMError as error:
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

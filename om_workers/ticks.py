"""The Celery tasks: thin shells that guard, call one method, log one line, and return its outcome word.

A tick finds what is due and dispatches it; it thinks nothing. Messages carry scope and chunk ids, never text.
"""

from __future__ import annotations

import time
from functools import wraps
from typing import TYPE_CHECKING

import structlog
from celery import shared_task
from structlog.contextvars import bound_contextvars

from om_api.errors import OMError
from om_api.store import due, presence, survey
from om_api.store.steps import Batch
from om_api.values import Outcome, Scope
from om_workers import wiring
from om_workers.stopping import StoppedError

if TYPE_CHECKING:
    from collections.abc import Callable

    from om_api.store.steps import Steps

_CLAIMS = 500
_HINTS = 500
_log = structlog.get_logger("om_workers")


def unit(event: str) -> Callable[[Callable[..., Outcome]], Callable[..., str]]:
    """Make a task of a unit of work: one line of log with its seconds and outcome; an error is the outcome `failed`.

    What a worker that stops leaves to others is `rest`: they find the scope due.
    The only place where a broad except is right: whatever goes wrong, the due index brings the scope back.
    """

    def decorate(work: Callable[..., Outcome]) -> Callable[..., str]:
        @wraps(work)
        def run(*ids: str) -> str:
            begun = time.perf_counter()
            with bound_contextvars(scope=ids[0] if ids else ""):
                try:
                    outcome = str(work(*ids))
                    _log.info(event, outcome=outcome, ids=ids[1:], seconds=round(time.perf_counter() - begun, 3))
                except StoppedError:
                    outcome = str(Outcome.REST)
                    _log.info(event, outcome=outcome, ids=ids[1:], left=True)
                except OMError as error:
                    outcome = str(Outcome.FAILED)
                    _log.warning(event, outcome=outcome, ids=ids[1:], error=str(error)[:500])
                    _tell(work.__name__, ids, error)
                except Exception as error:
                    outcome = str(Outcome.FAILED)
                    _log.exception(event, outcome=outcome, ids=ids[1:])
                    _tell(work.__name__, ids, error)
            return outcome

        return run

    return decorate


def _tell(work: str, ids: tuple[str, ...], error: Exception) -> None:
    if ids and (telling := wiring.telling()):
        telling.failed(ids[0], f"om.{work}", error)


def _first_of_slot(name: str, interval: float) -> Steps[bool]:
    # Several beats are one: whose tick comes first in a slot runs, the others' end at once.
    guard = wiring.workshop().keys.tick(name)
    (won,) = yield Batch([("SET", guard, 1, "NX", "PX", max(1, round(interval * 900)))], writes=True)
    if won:
        yield from presence.ticked(wiring.workshop().keys, name, (yield from due.server_ms()), interval)
    return bool(won)


def _tick(name: str, interval: float, work: Callable[[], dict[str, int]]) -> str:
    try:
        if not wiring.workshop().run(_first_of_slot(name, interval)):
            return str(Outcome.BUSY)
        did = work()
    except OMError as error:
        _log.warning(f"{name}_failed", error=str(error)[:500])
        return str(Outcome.FAILED)
    if any(did.values()):
        _log.info(f"{name}_ticked", **did)
    return str(Outcome.REST)


def _dispatch_due(index: str, dispatch: Callable[[str, str], None], seconds: float) -> int:
    """Claim and pass on whatever is due, in slices, for at most `seconds`; how many it was."""
    run, end, total = wiring.workshop().run, time.monotonic() + seconds, 0
    while time.monotonic() < end:
        claims = run(due.claim(index, _CLAIMS))
        known = [claim for claim in claims if Scope.is_one(claim.scope)]
        run(due.drop(index, [claim.scope for claim in claims if not Scope.is_one(claim.scope)]))
        for claim in known:
            dispatch(claim.scope, claim.lease)
        total += len(claims)
        if len(claims) < _CLAIMS:
            break
    return total


@shared_task(name="om.observer_tick", send_events=False, ignore_result=True)
def observer_tick() -> str:
    """Dispatch what is due to be observed, and what plain writers left to be adopted."""
    shop, interval = wiring.workshop(), wiring.settings().memory.observer_interval

    def work() -> dict[str, int]:
        if wiring.settings_changed():
            wiring.sweeper().apply_settings()
        hints = shop.run(survey.waiting_for_adoption(shop.keys, _HINTS))
        for key in hints:
            shop.dispatch.adopt(key)
        return {"due": _dispatch_due(shop.keys.due_observe, shop.dispatch.observe, interval / 2), "hints": len(hints)}

    return _tick("observer", interval, work)


@shared_task(name="om.reflector_tick", send_events=False, ignore_result=True)
def reflector_tick() -> str:
    """Dispatch what is due to be reflected."""
    shop, interval = wiring.workshop(), wiring.settings().memory.reflector_interval

    def work() -> dict[str, int]:
        return {"due": _dispatch_due(shop.keys.due_reflect, shop.dispatch.reflect, interval / 2)}

    return _tick("reflector", interval, work)


@shared_task(name="om.sweep", send_events=False, ignore_result=True)
def sweep() -> str:
    """Make good what pushes, tasks and dead workers left undone."""
    return _tick("sweep", wiring.SWEEP_S, lambda: wiring.sweeper().sweep()._asdict())


@shared_task(name="om.adopt", ignore_result=True)
@unit("key_adopted")
def adopt(key: str) -> Outcome:
    """Count what a plain ZADD left under a messages key."""
    return wiring.sweeper().adopt(key)


@shared_task(name="om.observe", ignore_result=True)
@unit("scope_observed")
def observe(scope: str, lease: str = "") -> Outcome:
    """Make the moves a scope is due."""
    return wiring.mover().observe(scope, lease)


@shared_task(name="om.observe_chunk", ignore_result=True)
@unit("chunk_observed")
def observe_chunk(scope: str, *chunks: str) -> Outcome:
    """Have a sealed chunk observed, or several small ones in one call."""
    return wiring.observer().observe_chunks(scope, *chunks)


@shared_task(name="om.reflect", ignore_result=True)
@unit("scope_reflected")
def reflect(scope: str, lease: str = "") -> Outcome:
    """Make the move a scope's observations are due."""
    return wiring.reflector().reflect(scope, lease)

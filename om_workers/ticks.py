"""The Celery tasks: thin shells that call one method, log one line, and return its outcome word.

Messages carry scope and chunk ids, never text.
"""

from __future__ import annotations

import time
from functools import wraps
from typing import TYPE_CHECKING

import structlog
from celery import shared_task
from structlog.contextvars import bound_contextvars

from om_api.errors import OMError
from om_api.values import Outcome
from om_workers import wiring
from om_workers.stopping import StoppedError

if TYPE_CHECKING:
    from collections.abc import Callable

_TURN_S = 2.0  # for which a task goes on with one scope while others wait
_log = structlog.get_logger("om_workers")


def unit(event: str, task: str) -> Callable[[Callable[..., Outcome]], Callable[..., str]]:
    """Make what a task does, or a part of it, a unit of work: one line of log with its seconds and outcome.

    An error is the outcome `failed`, and told with the task's name.
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
                    _tell(task, ids, error)
                except Exception as error:
                    outcome = str(Outcome.FAILED)
                    _log.exception(event, outcome=outcome, ids=ids[1:])
                    _tell(task, ids, error)
            return outcome

        return run

    return decorate


def _tell(task: str, ids: tuple[str, ...], error: Exception) -> None:
    if ids and (telling := wiring.telling()):
        telling.failed(ids[0], task, error)


@shared_task(name="om.observer_tick", send_events=False, ignore_result=True)
def observer_tick() -> str:
    """Dispatch what is due to be observed, and what plain writers left to be adopted."""
    return str(wiring.rounds().observe())


@shared_task(name="om.reflector_tick", send_events=False, ignore_result=True)
def reflector_tick() -> str:
    """Dispatch what is due to be reflected."""
    return str(wiring.rounds().reflect())


@shared_task(name="om.sweep", send_events=False, ignore_result=True)
def sweep() -> str:
    """Make good what pushes, tasks and dead workers left undone."""
    return str(wiring.rounds().sweep())


@shared_task(name="om.adopt", ignore_result=True)
def adopt(*keys: str) -> str:
    """Count what plain ZADDs left under messages keys, each a unit of its own: what is wrong with one hurts no other."""
    outcomes = [_adopt(key) for key in keys]
    return next((outcome for outcome in outcomes if outcome != Outcome.REST), str(Outcome.REST))


@unit("key_adopted", "om.adopt")
def _adopt(key: str) -> Outcome:
    return wiring.sweeper().adopt(key)


@shared_task(name="om.observe", ignore_result=True)
def observe(scope: str, lease: str = "") -> str:
    """Make the moves a scope is due, and have those chunks observed here that come first; a task for them costs as much again.

    It goes on so with what comes after them, and begins no chunk when its turn is over: then others come first.
    With the `lease` it was handed out with it begins only if no other task did what it is for; without, somebody asks by hand.
    """
    mine, until = list[str](), time.monotonic() + _TURN_S
    outcome = _look(mine)(scope, lease)
    wiring.dispatcher().refill("observe")
    while mine:
        chunks, mine = mine, []
        outcome = _observe(mine, until)(scope, *chunks)
        wiring.dispatcher().refill("observe")
    return outcome


def _look(mine: list[str]) -> Callable[..., str]:
    @unit("scope_observed", "om.observe")
    def observe(scope: str, lease: str) -> Outcome:
        return wiring.mover(mine).observe(scope) if _begun("observe", scope, lease) else Outcome.SUPERSEDED

    return observe


@shared_task(name="om.observe_chunk", ignore_result=True)
def observe_chunk(scope: str, *chunks: str) -> str:
    """Have a sealed chunk observed, or several small ones in one call."""
    return _observe(None, 0)(scope, *chunks)


def _observe(mine: list[str] | None, until: float) -> Callable[..., str]:
    @unit("chunk_observed", "om.observe_chunk")
    def observe(scope: str, *chunks: str) -> Outcome:
        return wiring.observer(mine, until).observe_chunks(scope, *chunks)

    return observe


@shared_task(name="om.reflect", ignore_result=True)
def reflect(scope: str, lease: str = "") -> str:
    """Make the move a scope's observations are due; `lease` as for `om.observe`."""
    outcome = _reflect(scope, lease)
    wiring.dispatcher().refill("reflect")
    return outcome


@unit("scope_reflected", "om.reflect")
def _reflect(scope: str, lease: str) -> Outcome:
    return wiring.reflector().reflect(scope) if _begun("reflect", scope, lease) else Outcome.SUPERSEDED


def _begun(queue: str, scope: str, lease: str) -> bool:
    return not lease or wiring.dispatcher().begin(queue, scope, lease)

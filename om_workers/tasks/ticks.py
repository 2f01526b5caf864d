"""The Celery tasks: thin shells that call one method, log one line, and return its outcome word, or fail with it.

Messages carry scope and chunk ids, never text.
"""

import math
import time
from collections.abc import Callable
from contextlib import AbstractContextManager
from functools import partial, wraps
from typing import Any

import structlog
from celery import current_task, shared_task
from structlog.contextvars import bound_contextvars

from om_api.domain.errors import OMError
from om_api.domain.values import Outcome, traceparent
from om_api.store.memory.scope_state import ScopeState
from om_api.telemetry import spans
from om_api.telemetry.spans import OurSpan
from om_workers.process.event_publisher import why
from om_workers.process.stopping import StoppedError
from om_workers.tasks import wiring
from om_workers.tasks.task_events import as_task
from om_workers.work.model_trials import ModelTrier
from om_workers.work.observer import Observer
from om_workers.work.reflector import Reflector
from om_workers.work.rounds import RoundResult
from om_workers.work.scope_worker import LookResult, ScopeWorker
from om_workers.work.sweep import Sweeper

_IDLE = {Outcome.REST, Outcome.BUSY, Outcome.SUPERSEDED}
_TURN_S = 2.0  # for which a task goes on with one scope while others wait
# for which it goes on with other scopes, while what was handed out waits; or half a tick, if that is less
_TASK_S = 5.0
_log = structlog.get_logger("om_workers")


class WorkFailedError(Exception):
    """A task's outcome is `failed`: Celery and Flower count it so. It was logged, and the due index brings the work back."""


def unit(event: str, task: str) -> Callable[[Callable[..., LookResult]], Callable[..., LookResult]]:
    """Make what a task does, or a part of it, a unit of work: one line of log with its seconds and outcome.

    An error is the outcome `failed`, and told with the task's name.
    What a worker that stops leaves to others is `rest`: they find the scope due.
    The only place where a broad except is right: whatever goes wrong, the due index brings the scope back.
    """

    def decorate(work: Callable[..., LookResult]) -> Callable[..., LookResult]:
        @wraps(work)
        def run(*ids: str, **given: Any) -> LookResult:
            with bound_contextvars(scope=ids[0] if ids else ""), wiring.watchdog.at_work(task, *ids):
                return _looked(partial(work, *ids, **given), ids, event, task)

        return run

    return decorate


def _looked(work: Callable[[], LookResult], ids: tuple[str, ...], event: str, task: str) -> LookResult:
    begun = time.perf_counter()
    try:
        came = work()
    except StoppedError:
        _log.info(event, outcome=str(Outcome.REST), ids=ids[1:], left=True)
        return LookResult(Outcome.REST)
    except OMError as error:
        _log.warning(event, outcome=str(Outcome.FAILED), ids=ids[1:], error=str(error)[:500])
        return _failed(task, ids, error)
    except Exception as error:
        _log.exception(event, outcome=str(Outcome.FAILED), ids=ids[1:])
        return _failed(task, ids, error)
    _log.info(event, outcome=str(came.outcome), ids=ids[1:], seconds=round(time.perf_counter() - begun, 3))
    return came


def _failed(task: str, ids: tuple[str, ...], error: Exception) -> LookResult:
    if ids and (services := wiring.made()):
        services.events.failed(ids[0], task, error)
    return LookResult(Outcome.FAILED, error=f"{type(error).__name__} ({why(error)})")


def _told(outcome: Outcome, error: str = "") -> str:
    """What Celery is told of a task: its outcome; raises WorkFailedError, with no more than an error's name, if it failed."""
    if outcome is Outcome.FAILED:
        raise WorkFailedError(f"{outcome}: {error}")
    return str(outcome)


def _round(came: RoundResult) -> str:
    """The same of a round: what it did, if it did anything."""
    return ", ".join(f"{what} {n}" for what, n in came.did.items() if n) or _told(came.outcome, came.error)


# expected of a task: no traceback in the log
_task = partial(shared_task, ignore_result=True, throws=(WorkFailedError,))


@_task(name="om.observer_tick")
def observer_tick() -> str:
    """Dispatch what is due to be observed, and what plain writers left to be adopted."""
    return _round(wiring.rounds().observe())


@_task(name="om.reflector_tick")
def reflector_tick() -> str:
    """Dispatch what is due to be reflected."""
    return _round(wiring.rounds().reflect())


@_task(name="om.sweep")
def sweep() -> str:
    """Make good what pushes, tasks and dead workers left undone."""
    return _round(wiring.rounds().sweep())


@_task(name="om.webhooks")
def webhooks() -> str:
    """Send what happened to webhooks."""
    return _round(wiring.rounds().webhooks())


@_task(name="om.archive")
def archive() -> str:
    """Move what is old enough to the archive."""
    return _round(wiring.rounds().archive())


def _whose(scope: str) -> dict[str, Any]:
    resource, _, thread = scope.partition("|")
    return {"resource": resource, "thread": thread or None}


def _caused() -> AbstractContextManager[None]:
    """Within it what begins a trace goes on from the tick that sent this task."""
    return spans.caused_by(traceparent(current_task.request.get("traceparent")) if spans.on() and current_task else "")


@_task(name="om.adopt")
def adopt(*keys: str) -> str:
    """Count what plain ZADDs left under messages keys, each a unit of its own: what is wrong with one hurts no other."""
    came = [_adopt(key) for key in keys]
    failed = [each for each in came if each.outcome is Outcome.FAILED]
    did = [each for each in came if each.outcome is not Outcome.REST]
    first = next(iter([*failed, *did]), LookResult(Outcome.REST))
    return _told(first.outcome, first.error)


@unit("key_adopted", "om.adopt")
def _adopt(key: str) -> LookResult:
    return LookResult(Sweeper(wiring.services()).adopt(key))


@_task(name="om.try_model")
def try_model() -> str:
    """Make a test call of a model: `rest` when made, `busy` when none waits, as where another task made it."""
    return _told(_try().outcome)


@unit("model_tried", "om.try_model")
def _try() -> LookResult:
    return LookResult(ModelTrier(wiring.services()).make_next())


@_task(name="om.observe")
def observe(scope: str, lease: str = "") -> str:
    """Make the moves a scope is due, then those of the scopes whose turn comes next, for some seconds.

    With the `lease` it was handed out with it begins only if no other task did what it is for; without, somebody asks by hand.
    Flower is told of each scope as of a task of its own. It says with the first how many
    followed, for it ends with the last.
    """
    with _caused():
        first, followed = _observed(scope, lease), 0
    seconds = min(_TASK_S, wiring.settings().memory.observer_interval / 2)
    for claim in wiring.dispatcher().following("observe", scope, seconds):
        as_task("om.observe", claim, partial(_outcome, claim.scope))
        followed += 1
    return _told(*first) + (f", and {followed} more" if followed else "")


def _outcome(scope: str) -> str:
    return _told(*_observed(scope))


def _observed(scope: str, lease: str = "") -> tuple[Outcome, str]:
    """Make the moves a scope is due, and have those chunks observed here that come first; a task for them costs as much again.

    It goes on so with what comes after them, and begins no chunk when the scope's turn is over: then others come first.
    """
    until = time.monotonic() + _TURN_S
    with spans.span("om.observe", "consumer", **_whose(scope)) as span:
        came, dispatcher = _look(scope, lease), wiring.dispatcher()
        idle = came.outcome in _IDLE and not came.chunks
        while came.chunks:
            begun = time.monotonic()
            came = _observe(scope, *came.chunks, until=until, seen=came.seen)
            dispatcher.lasted("observe", scope, time.monotonic() - begun)
        _tell(span, came, idle=idle)
    dispatcher.ended("observe", scope)
    return came.outcome, came.error


def _tell(span: OurSpan, came: LookResult, *, idle: bool) -> None:
    """Say what a task came to; nothing of one that found nothing to do."""
    if idle:
        span.leave()
    failed = {"error.type": came.error.partition(" ")[0]} if came.error else {}
    span.note(failed, outcome=came.outcome)


@unit("scope_observed", "om.observe")
def _look(scope: str, lease: str) -> LookResult:
    if not _begun("observe", scope, lease):
        return LookResult(Outcome.SUPERSEDED)
    return ScopeWorker(wiring.services()).observe(scope, until=math.inf)


@_task(name="om.observe_chunk")
def observe_chunk(scope: str, *chunks: str) -> str:
    """Have a sealed chunk observed, or several small ones in one call."""
    came = _observe(scope, *chunks)
    return _told(came.outcome, came.error)


@unit("chunk_observed", "om.observe_chunk")
def _observe(scope: str, *chunks: str, until: float = 0.0, seen: ScopeState | None = None) -> LookResult:
    return Observer(wiring.services()).observe_chunks(scope, *chunks, until=until, seen=seen)


@_task(name="om.reflect")
def reflect(scope: str, lease: str = "") -> str:
    """Make the move a scope's observations are due; `lease` as for `om.observe`."""
    begun, dispatcher = time.monotonic(), wiring.dispatcher()
    with _caused(), spans.span("om.reflect", "consumer", **_whose(scope)) as span:
        came = _reflect(scope, lease)
        _tell(span, came, idle=came.outcome in _IDLE)
    if came.outcome in {Outcome.REFLECTED, Outcome.FAILED}:
        dispatcher.lasted("reflect", scope, time.monotonic() - begun)
    dispatcher.ended("reflect", scope)
    dispatcher.refill("reflect", scope)
    return _told(came.outcome, came.error)


@unit("scope_reflected", "om.reflect")
def _reflect(scope: str, lease: str) -> LookResult:
    if not _begun("reflect", scope, lease):
        return LookResult(Outcome.SUPERSEDED)
    return LookResult(Reflector(wiring.services()).reflect(scope))


def _begun(queue: str, scope: str, lease: str) -> bool:
    return not lease or wiring.dispatcher().begin(queue, scope, lease)

"""Asking the hooks of a point, one after the other: each is given what the one before it left."""

import copy
from collections.abc import Sequence
from importlib import import_module
from typing import Any

import msgspec

from om_api.domain.errors import OMError
from om_api.domain.extras import missing
from om_api.domain.webhooks.hook import Fault, Given, Hook, Hooked, HookFailure, Point
from om_api.hooks.answers import LONGEST, merged
from om_api.hooks.entry_points import function_of
from om_api.hooks.faults import AnswerError, MissingHookError
from om_api.hooks.time_limit import within

_DETAIL = 300


def ask_all(point: Point, hooks: Sequence[Hook], given: Given, *, allow_private: bool) -> Hooked:
    """What hooks make of what they are given. Takes as long as their time limits together at most, and raises nothing.

    Of a hook that fails nothing counts; whichever comes after one that fails with `stop` is not asked.
    """
    given, failures = {"point": point, **given}, list[HookFailure]()
    for hook in hooks:
        try:
            given = merged(point, given, _answer(hook, given, allow_private=allow_private))
        except Exception as error:  # noqa: BLE001 - whatever a hook makes of it
            failures.append(HookFailure(point, hook, _fault(error), _detail(hook, error)[:_DETAIL]))
            if hook.on_failure == "stop":
                break
    return Hooked(given, tuple(failures))


def _answer(hook: Hook, given: Given, *, allow_private: bool) -> bytes:
    agent = str(given.get("resource", ""))
    if hook.url:
        body = msgspec.json.encode(given)
        over_http = _over_http()
        found: bytes = within(
            hook.timeout, lambda: over_http.ask(hook, body, allow_private=allow_private, most=LONGEST), agent
        )
        return found
    own = copy.deepcopy(given)  # a hook that is left alone may go on changing it
    return _written(within(hook.timeout, lambda: function_of(hook.entry_point)(own), agent))


def _over_http() -> Any:
    """The module that posts: httpx2 comes with the extra for workers, and whoever has no such hook needs none."""
    try:
        return import_module("om_api.hooks.over_http")
    except ModuleNotFoundError as error:
        raise MissingHookError(str(missing(error, "workers"))) from None


def _written(answer: Any) -> bytes:
    try:
        found = msgspec.json.encode(answer)
    except (TypeError, ValueError, RecursionError) as error:
        raise AnswerError(f"it cannot be written as JSON: {error}") from None
    if len(found) > LONGEST:
        raise AnswerError(f"it is {len(found):,} bytes of JSON; permitted: {LONGEST:,}")
    return found


def _detail(hook: Hook, error: Exception) -> str:
    """What happened, in a sentence; only of what is not ours the class of the error is told."""
    if isinstance(error, TimeoutError):
        return f"it did not answer within {hook.timeout:g} s"
    own = isinstance(error, OMError)
    return str(error) if own else f"it failed with {type(error).__name__}: {error}"


def _fault(error: Exception) -> Fault:
    if isinstance(error, TimeoutError):
        return "timeout"
    if isinstance(error, MissingHookError):
        return "missing"
    return "answer" if isinstance(error, AnswerError) else "error"

"""Hooks as clients meet them: those that add to the end of a context, and how all of an agent's are doing."""

import os
import time
from collections.abc import Sequence
from functools import partial
from typing import Literal, get_args

import msgspec

from om_api.client.reporting import Reporter
from om_api.context import Context
from om_api.domain.caching import LRU
from om_api.domain.messages import Message
from om_api.domain.values import check_id
from om_api.domain.webhooks import signing
from om_api.domain.webhooks.hook import Hook, HookFailure, Point, Policy
from om_api.domain.wire import encode_message
from om_api.hooks import entry_points
from om_api.hooks.asking import ask_all
from om_api.settings import Settings
from om_api.settings.logs import library_log
from om_api.store.driver.steps import Apart, Steps
from om_api.store.fleet import event_stream, hook_failures
from om_api.store.memory.keys import Keys

_HOUR_S = 3_600.0
_REMEMBERED = 4_096  # hooks of agents that failed


class HookState(msgspec.Struct, frozen=True, kw_only=True):
    """One hook of an agent: where it is asked, what it is called (an entry point, or a URL's host), and its limits (s).

    `runs_in` is which processes ask it: `worker`, or `client`, which are whoever reads contexts and `om api`. `ready`: it could
    be asked by the process that answers, which has the entry point, or the secret. `failures` are all that were counted.
    """

    point: Point
    name: str
    kind: Literal["entry_point", "url"]
    timeout: float
    on_failure: Policy
    runs_in: Literal["worker", "client"]
    ready: bool
    failures: int


class ContextHooks:
    """Asks the hooks that may add to contexts, and tells of those that fail."""

    def __init__(self, settings: Settings, reporter: Reporter) -> None:
        self._settings, self._reporter = settings, reporter
        self._logged: LRU[str, float] = LRU(_REMEMBERED)

    def any(self, resource: str) -> bool:
        """Whether there is one: who has none pays nothing."""
        return bool(self._settings.for_agent(resource).hooks.before_context)

    def added(self, built: Context, messages: Sequence[Message]) -> Steps[str]:
        """What hooks add to a context's end, "" for nothing. Raises HookError for one that says stop."""
        resource, last = built.resource_id, built.blocks[-1:]
        newest = max(messages, key=lambda message: message.at, default=None)
        given = {
            "resource": resource,
            "thread": built.thread_id,
            "notes": built.system,
            "closing": last[0].text if last and last[0].kind == "volatile" else "",
            "message": msgspec.json.decode(encode_message(newest)) if newest else None,
        }
        hooks, private = self._settings.for_agent(resource).hooks, self._settings.memory.webhooks.allow_private
        point: Point = "before_context"
        found = yield from Apart(partial(ask_all, point, hooks.at(point), given, allow_private=private))
        for failed in found.failures:
            self._log(resource, failed)
            yield from self._reporter.hook_failed(resource, failed)
        return str(found.go_on(resource, "no context is given; repeat the call").get("add", ""))

    def _log(self, resource: str, failed: HookFailure) -> None:
        """Once an hour, whatever the store lets this client tell."""
        key, now = f"{resource}:{failed.hook.name}", time.monotonic()
        if now - self._logged.get(key, -_HOUR_S) >= _HOUR_S:
            self._logged.put(key, now)
            library_log().warning(
                "hook_failed", agent=resource, point=failed.point, hook=failed.hook.name, why=failed.why
            )


class HookReader:
    """How an agent's hooks are doing."""

    def __init__(self, settings: Settings, keys: Keys) -> None:
        self._settings, self._keys = settings, keys

    def states(self, resource: str) -> Steps[list[HookState]]:
        """Every hook of an agent, point by point in the order in which they are asked."""
        settings = self._settings.for_agent(check_id(resource, "resource_id")).hooks
        (counted,) = yield from event_stream.counted(self._keys, [resource])
        failed = hook_failures.failures(counted)
        points: tuple[Point, ...] = get_args(Point)
        return [
            HookState(
                point=point,
                name=hook.name,
                kind="url" if hook.url else "entry_point",
                timeout=hook.timeout,
                on_failure=hook.on_failure,
                runs_in="client" if point == "before_context" else "worker",
                ready=is_ready(hook),
                failures=failed.get((point, hook.name), 0),
            )
            for point in points
            for hook in settings.at(point)
        ]


def is_ready(hook: Hook) -> bool:
    """Whether this process could ask it: it has the entry point, or the secret."""
    return (
        signing.is_secret(os.environ.get(hook.secret_env, ""))
        if hook.url
        else hook.entry_point in entry_points.installed()
    )

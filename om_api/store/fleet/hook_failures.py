"""Hooks that failed: each failure is counted, and told once an hour for each agent and hook. Best effort, as all figures are."""

import time
from collections.abc import Mapping

from om_api.domain.events import Event
from om_api.domain.webhooks.hook import HookFailure
from om_api.store.driver.steps import Steps
from om_api.store.fleet import event_stream as stream
from om_api.store.memory.keys import Keys

_HOUR_S = 3_600
_COUNTED = "hook"


def note(keys: Keys, resource: str, failure: HookFailure) -> Steps[Event | None]:
    """Count a failure; the event to tell of it, unless somebody told of this hook within the hour."""
    yield from stream.add(keys, {resource: {f"{_COUNTED}|{failure.point}|{failure.hook.name}": 1}})
    hour = int(time.time()) // _HOUR_S
    if not (yield from stream.first_to_tell(keys, f"{failure.point}:{failure.hook.name}:{hour}:{resource}")):
        return None
    return Event(
        kind="hook_failed", resource=resource, setting=f"hooks.{failure.point}", hook=failure.hook.name,
        why=failure.why, then=failure.hook.on_failure,
    )  # fmt: skip


def failures(counted: Mapping[str, int]) -> dict[tuple[str, str], int]:
    """How often each hook failed, by its point and its name, of the counters of an agent or of all."""
    split = ((name.split("|", 2), times) for name, times in counted.items())
    return {(words[1], words[2]): times for words, times in split if words[0] == _COUNTED and len(words) == 3}  # noqa: PLR2004 - as noted

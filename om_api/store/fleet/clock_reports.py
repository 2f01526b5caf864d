"""Agents whose messages are dated ahead of the server's clock: counted, and reported once an hour. Best effort."""

import time
from collections import defaultdict

from om_api.domain.events import Event, Wanted
from om_api.store.driver.steps import Steps
from om_api.store.fleet import event_stream as stream
from om_api.store.memory import due
from om_api.store.memory.keys import Keys

_HOUR_S = 3_600
_LATE_MS = 2 * _HOUR_S * 1_000
_MOST = 200  # events that are read


def note(keys: Keys, resource: str, messages: int, ahead_ms: int) -> Steps[Event | None]:
    """Count messages dated ahead of the server; the event to publish, at most one an agent and hour."""
    yield from stream.add(keys, {resource: {"ahead": messages}})
    hour = int(time.time()) // _HOUR_S
    if not (yield from stream.first_to_tell(keys, f"clock_ahead:{hour}:{resource}")):
        return None
    return Event(kind="clock_ahead", resource=resource, messages=messages, seconds=round(ahead_ms / 1000, 3))


def agents(keys: Keys) -> Steps[dict[str, float]]:
    """Agents with messages dated ahead within two hours, each with its largest lead in seconds."""
    now = yield from due.server_ms()
    page = yield from stream.newest(keys, Wanted(kinds=("clock_ahead",)), _MOST)
    found: defaultdict[str, float] = defaultdict(float)
    for event in page.events:
        if now - event.at <= _LATE_MS:
            found[event.resource] = max(found[event.resource], event.seconds or 0.0)
    return dict(found)

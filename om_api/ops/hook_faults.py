"""Which hooks cannot be asked from here, and which failed of late, as `om doctor` tells it."""

from collections import defaultdict
from collections.abc import Sequence
from typing import NamedTuple, get_args

from om_api.client.hooking import is_ready
from om_api.domain.events import Event, Wanted
from om_api.domain.webhooks.hook import Point
from om_api.settings import MemorySettings, Settings
from om_api.store.driver.steps import Steps
from om_api.store.fleet import event_stream
from om_api.store.memory import due
from om_api.store.memory.keys import Keys

_LATE_MS = 2 * 3_600_000
_MOST = 200  # events that are looked at


class HookFault(NamedTuple):
    """A hook of agents ("": of whoever has no override) that is not here (`why` is ""), or failed of late, and why."""

    agents: tuple[str, ...]
    point: str
    hook: str
    why: str = ""


def missing(settings: Settings) -> list[HookFault]:
    """Hooks that settings name, and that this process could not ask."""
    by = defaultdict[tuple[str, str], list[str]](list)
    for name in ("", *settings.agents()):
        for found in _missing_in(settings.for_agent(name) if name else settings.memory):
            by[found].append(name)
    return [HookFault(tuple(agents), *found) for found, agents in by.items()]


def _missing_in(memory: MemorySettings) -> list[tuple[str, str]]:
    points: tuple[Point, ...] = get_args(Point)
    return [(point, hook.name) for point in points for hook in memory.hooks.at(point) if not is_ready(hook)]


def failed(keys: Keys) -> Steps[list[HookFault]]:
    """Hooks that failed within the last two hours, told once each hour, with the newest reason."""
    now = yield from due.server_ms()
    told = yield from event_stream.newest(keys, Wanted(kinds=("hook_failed",)), _MOST)
    by = defaultdict[tuple[str, str], list[Event]](list)
    for event in told.events:
        if now - event.at <= _LATE_MS:
            by[event.setting or "", event.hook or ""].append(event)
    return [_of(setting, hook, events) for (setting, hook), events in by.items()]


def _of(setting: str, hook: str, events: Sequence[Event]) -> HookFault:
    agents = tuple(dict.fromkeys(event.resource for event in events))
    return HookFault(agents, setting.removeprefix("hooks."), hook, events[-1].why or "")

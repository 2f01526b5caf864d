"""Faults that recent events report: unusable answers, failing reflections, frozen workers, clocks that run ahead."""

from collections import defaultdict
from collections.abc import Iterable, Sequence
from typing import NamedTuple

from om_api.domain.events import Event, Wanted
from om_api.domain.values import Scope
from om_api.store.driver.steps import Steps
from om_api.store.fleet import event_stream
from om_api.store.memory import due
from om_api.store.memory.chunks import root
from om_api.store.memory.keys import Keys

_SHORT_MS, _DAY_MS = 2 * 3_600_000, 24 * 3_600_000
_OF_MODELS = ("answer_unusable", "failed", "drafted", "reflected")


class ModelFault(NamedTuple):
    """A fault of a scope within two hours: how many `times`, and `why` the last time.

    `task` is observe or reflect. `model` is "" where the whole task failed. `quote` is from the last answer, "" if none of it
    may be shown.
    """

    scope: Scope
    task: str
    model: str
    why: str
    times: int
    quote: str = ""


def of_models(keys: Keys) -> Steps[list[ModelFault]]:
    """Models with unusable answers, and scopes with failing reflections, until one succeeds, within two hours."""
    unusable, failing = (defaultdict[tuple[Scope, str, str], list[Event]](list) for _ in range(2))
    for event in (yield from _recent(keys, _OF_MODELS, 1_000, _SHORT_MS)):
        scope = Scope(event.resource, event.thread)
        if event.kind == "answer_unusable":
            unusable[scope, event.task or "", event.model or ""].append(event)
        elif event.kind != "failed":
            failing.pop((scope, "reflect", ""), None)
        elif event.task == "reflect":
            failing[scope, "reflect", ""].append(event)
    return [
        ModelFault(*of, events[-1].why or "", len(events), events[-1].quote or "")
        for of, events in [*unusable.items(), *failing.items()]
    ]


def of_workers(keys: Keys) -> Steps[list[Event]]:
    """The newest crash within a day of each chunk, with its halves, and of each task."""
    recent = yield from _recent(keys, ("crashed",), 20, _DAY_MS)
    return [*{(each.resource, root(each.chunk or ""), each.task): each for each in recent}.values()]


def of_clocks(keys: Keys) -> Steps[dict[str, float]]:
    """Agents with messages dated ahead within two hours, each with its largest lead in seconds."""
    found = defaultdict[str, float](float)
    for event in (yield from _recent(keys, ("clock_ahead",), 200, _SHORT_MS)):
        found[event.resource] = max(found[event.resource], event.seconds or 0.0)
    return dict(found)


def _recent(keys: Keys, kinds: Sequence[str], most: int, within_ms: int) -> Steps[Iterable[Event]]:
    """The newest events of some kinds, at most so many, the oldest first."""
    now = yield from due.server_ms()
    page = yield from event_stream.newest(keys, Wanted(kinds=tuple(kinds)), most)
    return [event for event in page.events if now - event.at <= within_ms]

"""Models with unusable answers and scopes with failing reflections, from recent events."""

from collections import defaultdict
from collections.abc import Sequence
from typing import NamedTuple

from om_api.domain.events import Event, Wanted
from om_api.domain.values import Scope
from om_api.store.driver.steps import Steps
from om_api.store.fleet import event_stream
from om_api.store.memory import due
from om_api.store.memory.keys import Keys

_LATE_MS = 2 * 3_600_000
_MOST = 1_000  # events that are read
_KINDS = ("answer_unusable", "failed", "drafted", "reflected")


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


def recent(keys: Keys) -> Steps[list[ModelFault]]:
    """The faults of the last two hours. A successful reflection ends the failures of its scope."""
    now = yield from due.server_ms()
    page = yield from event_stream.newest(keys, Wanted(kinds=_KINDS), _MOST)
    unusable, failing = (defaultdict[tuple[Scope, str, str], list[Event]](list) for _ in range(2))
    for event in page.events:
        if now - event.at > _LATE_MS:
            continue
        scope = Scope(event.resource, event.thread)
        if event.kind == "answer_unusable":
            unusable[scope, event.task or "", event.model or ""].append(event)
        elif event.kind != "failed":
            failing.pop((scope, "reflect", ""), None)
        elif event.task == "reflect":
            failing[scope, "reflect", ""].append(event)
    return [_fault(*of, events) for of, events in [*unusable.items(), *failing.items()]]


def _fault(scope: Scope, task: str, model: str, events: Sequence[Event]) -> ModelFault:
    return ModelFault(scope, task, model, events[-1].why or "", len(events), events[-1].quote or "")

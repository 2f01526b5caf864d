"""Whether the fleet falls behind: what has no room, since when, by how much it grows, how many workers would do."""

from collections.abc import Mapping, Sequence
from math import ceil
from typing import NamedTuple

from om_api.store.fleet.presence import Ticked, Worker

_SOON_S = 600  # within which a backlog is to be worked off
_USUAL = 32  # tasks at a time of a worker that does not say
_USUAL_S = 1.0  # of a task that nobody has measured


class FleetBacklog(NamedTuple):
    """Scopes that are `due` and more than there is room for, for `seconds`; they get `grows` more a second, or fewer below 0.

    `more` workers of `tasks` each would do what comes, `soon` would also work off what waits within ten minutes.
    """

    due: int
    seconds: float
    grows: float
    more: int
    soon: int
    tasks: int


def backlog(
    queue: str, tick: Ticked | None, workers: Sequence[Worker], lasting: Mapping[str, float]
) -> FleetBacklog | None:
    """What waits for a queue as its last tick saw it; None where all that is due has room.

    With more work than workers each of their tasks is busy: they do as many scopes a second as they have tasks, divided by what
    one lasts. What comes beside that is what the backlog grows by.
    """
    if tick is None or not tick.since:
        return None
    widths = [worker.concurrency or _USUAL for worker in workers if queue in worker.queues]
    width = round(sum(widths) / len(widths)) if widths else _USUAL
    known = [seconds for name, seconds in lasting.items() if name.startswith(f"{queue}|")]
    seconds = sum(known) / len(known) if known else _USUAL_S
    since = max(tick.interval, (tick.at - tick.since) / 1000)
    grows = (tick.due - tick.was) / since
    comes = sum(widths) / seconds + grows
    more, soon = (max(0, ceil((each * seconds - sum(widths)) / width)) for each in (comes, comes + tick.due / _SOON_S))
    return FleetBacklog(tick.due, (tick.at - tick.since) / 1000, grows, more, soon, width)

"""The beat's schedule, in memory: a tick is sent while few wait, so that an outage of all workers leaves few behind."""

from typing import Any

from celery.beat import ScheduleEntry
from celery.beat import Scheduler as CelerysScheduler

from om_workers.tasks.broker import queue_length

# more than come within one interval of all kinds and several beats; adoptions wait where the sweep does
_MOST = {"ticks": 10, "maintenance": 500}


class Scheduler(CelerysScheduler):  # type: ignore[misc]  # Celery carries no types
    """Celery's, but for this: nothing is added to a queue in which more than a few tasks wait."""

    def apply_async(self, entry: ScheduleEntry, **words: Any) -> Any:
        """Send a tick, or pass it over where those before it still wait."""
        queue = entry.options["queue"]
        return None if queue_length(self.app, queue) > _MOST[queue] else super().apply_async(entry, **words)

"""The beat's schedule, in memory: a tick is sent while few wait, so that an outage of all workers leaves few behind."""

from __future__ import annotations

from typing import Any

from celery.beat import ScheduleEntry
from celery.beat import Scheduler as CelerysScheduler

from om_workers.queue_length import queue_length

_FEW = 10  # more than ticks of all kinds and of several beats come within one interval


class Scheduler(CelerysScheduler):  # type: ignore[misc]  # Celery carries no types
    """Celery's, but for this: nothing is added to a queue in which more than a few tasks wait."""

    def apply_async(self, entry: ScheduleEntry, producer: Any = None, *, advance: bool = True, **words: Any) -> Any:
        """Send a tick, or pass it over where those before it still wait."""
        if queue_length(self.app, entry.options["queue"]) > _FEW:
            return self.reserve(entry) if advance else None
        return super().apply_async(entry, producer=producer, advance=advance, **words)

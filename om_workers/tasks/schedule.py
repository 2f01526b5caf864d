"""The beat's schedule, in memory: a tick is sent while few wait, so that an outage of all workers leaves few behind."""

from pathlib import Path
from typing import Any

from celery.beat import ScheduleEntry
from celery.beat import Scheduler as CelerysScheduler

from om_workers.tasks import wiring
from om_workers.tasks.broker import queue_length

# more than come within one interval of all kinds and several beats; adoptions wait where the sweep does
_MOST = {"ticks": 10, "maintenance": 500}


class Scheduler(CelerysScheduler):  # type: ignore[misc]  # Celery carries no types
    """Celery's, but for this: nothing is added to a queue in which more than a few tasks wait.

    The file that OM_BEAT_FILE names is touched whenever a tick was sent or passed over: at least every ten seconds while
    the beat runs and its broker answers, for the sweep is sent as often whatever the settings say.
    """

    def apply_async(self, entry: ScheduleEntry, **words: Any) -> Any:
        """Send a tick, or pass it over where those before it still wait."""
        queue = entry.options["queue"]
        sent = None if queue_length(self.app, queue) > _MOST[queue] else super().apply_async(entry, **words)
        if file := wiring.settings().variable("OM_BEAT_FILE"):
            Path(file).touch()
        return sent

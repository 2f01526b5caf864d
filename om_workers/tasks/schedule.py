"""The beat's schedule, in memory: a tick is sent while few wait, so that an outage of all workers leaves few behind."""

import signal
import threading
from pathlib import Path
from typing import Any, NoReturn

from celery.beat import ScheduleEntry, Service
from celery.beat import Scheduler as CelerysScheduler
from celery.signals import beat_init

from om_workers.tasks import wiring
from om_workers.tasks.broker import queue_length
from om_workers.tasks.outages import outages

# more than come within one interval of all kinds and several beats; adoptions wait where the sweep does
_MOST = {"ticks": 10, "maintenance": 500}


class Scheduler(CelerysScheduler):  # type: ignore[misc]  # Celery carries no types
    """Celery's, but for this: nothing is added to a queue in which more than a few tasks wait, and it ends when it is told to.

    The file that OM_BEAT_FILE names is touched whenever a tick was sent or passed over: at least every ten seconds while
    the beat runs and its broker answers, for the sweep is sent as often whatever the settings say.
    """

    told_to_end = False

    def tick(self, *args: Any, **words: Any) -> Any:
        """Send what is due; raises SystemExit once the beat was told to end."""
        if self.told_to_end:
            raise SystemExit
        return super().tick(*args, **words)

    def apply_async(self, entry: ScheduleEntry, **words: Any) -> Any:
        """Send a tick, or pass it over where those before it still wait."""
        queue = entry.options["queue"]
        sent = None
        if queue_length(self.app, queue) <= _MOST[queue]:
            sent = super().apply_async(entry, **words)
            outages.over()
        if file := wiring.settings().variable("OM_BEAT_FILE"):
            Path(file).touch()
        return sent


@beat_init.connect
def _heed(sender: Service, **_: Any) -> None:
    """Celery ends its beat by a SystemExit raised wherever that is, which is lost in a callback: what is told is kept too.

    Time 0: a weak reference's callback runs. Time 1: SIGTERM; Python prints the SystemExit and goes on. Time 2: the next tick
    ends the beat.
    """
    scheduler = sender.scheduler

    def end(*_: Any) -> NoReturn:
        scheduler.told_to_end = True
        raise SystemExit

    if threading.current_thread() is threading.main_thread():  # not where a worker has the beat beside it
        signal.signal(signal.SIGTERM, end)
        signal.signal(signal.SIGINT, end)

"""The beat's schedule, in memory: a tick is sent while few wait, so that an outage of all workers leaves few behind."""

from __future__ import annotations

from typing import Any

from celery.beat import ScheduleEntry
from celery.beat import Scheduler as CelerysScheduler
from kombu.exceptions import OperationalError

_FEW = 10  # more than ticks of all kinds and of several beats come within one interval


class Scheduler(CelerysScheduler):  # type: ignore[misc]  # Celery carries no types
    """Celery's, but for this: nothing is added to a queue in which more than a few tasks wait."""

    def apply_async(self, entry: ScheduleEntry, producer: Any = None, *, advance: bool = True, **words: Any) -> Any:
        """Send a tick, or pass it over where those before it still wait."""
        if self._waiting(entry, producer or self.producer) > _FEW:
            return self.reserve(entry) if advance else None
        return super().apply_async(entry, producer=producer, advance=advance, **words)

    def _waiting(self, entry: ScheduleEntry, producer: Any) -> int:
        connection = producer.connection
        try:
            queue = self.app.amqp.queues[entry.options["queue"]].bind(producer.channel)
            return int(queue.queue_declare().message_count)
        except (OperationalError, *connection.connection_errors, *connection.channel_errors):
            return 0  # sending it says what is wrong, and tries again

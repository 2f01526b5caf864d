"""What Flower is told of tasks: Celery's events, none of them lost among threads or while the broker is away.

A worker gathers the events of its tasks and sends them together. Celery 5.6 empties what it gathered after sending it:
what another thread says meanwhile is lost, and Flower shows that task as received for ever (celery/celery#10434). What
cannot be sent twice in a row is lost too, and so is what a task says that began before the broker went away.
"""

from typing import Any, Self

import structlog
from celery import bootsteps
from celery.app.events import Events
from celery.events.dispatcher import EventDispatcher

MOST = 5_000  # events that wait for a broker that is away
_EVERY_S = 0.5
_log = structlog.get_logger("om_workers")


class TaskEventSender(EventDispatcher):  # type: ignore[misc]  # Celery carries no types
    """Celery's, but for this: what is said waits in one line until it was sent, and in the order in which it was said.

    A worker makes a new one whenever it connects again, while the tasks it runs go on telling the old one: that one hands
    on what it held (`extend_buffer`), and whatever it is told from then on.
    """

    _heir: "TaskEventSender | None" = None
    _dropped = 0

    def __init__(self, *words: Any, **fields: Any) -> None:
        super().__init__(*words, **{**fields, "on_send_buffered": None})  # `Flushing` sends them

    def send(self, *words: Any, **fields: Any) -> Any:
        """Say what happened to a task: later, together with others."""
        return self._heir.send(*words, **fields) if self._heir else super().send(*words, **fields)

    def publish(self, *words: Any, **fields: Any) -> Any:
        """Say what happened to the worker, at once; what the broker does not take waits with the rest."""
        super().publish(*words, **fields)
        with self.mutex:
            self._trim()

    def flush(self, *_: Any, **__: Any) -> None:
        """Send everything that waits; what the broker does not take waits on."""
        with self.mutex:
            self._line_up()
            waiting = self._outbound_buffer
            while waiting:
                events, key, *_ = waiting.popleft()
                left = len(waiting)
                self._publish(events, self.producer, key)
                if len(waiting) > left:  # it was put back, behind all others
                    waiting.appendleft(waiting.pop())
                    return
            if self._dropped:
                _log.warning("task_events_dropped", dropped=self._dropped)
                self._dropped = 0

    def extend_buffer(self, other: Self) -> None:
        """Take over from a sender whose connection is gone."""
        with other.mutex:
            other._line_up()
            other._heir = self
            super().extend_buffer(other)
            other._outbound_buffer.clear()
            self._dropped += other._dropped
            self._trim()

    def _line_up(self) -> None:
        for group, gathered in list(self._group_buffer.items()):
            if batch := list(gathered):
                del gathered[: len(batch)]
                self._outbound_buffer.append((batch, f"{group}.multi", None))
        self._trim()

    def _trim(self) -> None:
        """Let the oldest go where too many wait: Flower forgets as well, and a worker must not end for it."""
        waiting = self._outbound_buffer
        sizes = [len(events) if isinstance(events, list) else 1 for events, *_ in waiting]
        over = sum(sizes) - MOST
        while over > 0:
            waiting.popleft()
            over -= sizes[0]
            self._dropped += sizes.pop(0)


class TaskEvents(Events):  # type: ignore[misc]  # Celery carries no types
    """Celery's events, sent by the sender above."""

    dispatcher_cls = f"{__name__}:TaskEventSender"


class Flushing(bootsteps.StartStopStep):  # type: ignore[misc]
    """Sends what tasks said twice a second; to do so at each turn of its loop, as Celery does, kept a worker busy."""

    requires = ("celery.worker.consumer.events:Events",)
    _entry: Any = None

    def start(self, consumer: Any) -> None:
        """Begin, on the timer of the worker's loop."""
        if consumer.hub:
            self._entry = consumer.timer.call_repeatedly(_EVERY_S, consumer._flush_events)  # noqa: SLF001 -- Celery's

    def stop(self, consumer: Any) -> None:
        """End, before another connection begins anew or the loop is over."""
        if self._entry:
            consumer.timer.cancel(self._entry)
            self._entry = None

    def shutdown(self, consumer: Any) -> None:
        """Send what the last tasks said: all threads have ended, and the sender is closed after this."""
        consumer._flush_events()  # noqa: SLF001

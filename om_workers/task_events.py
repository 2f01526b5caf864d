"""What Flower is told of tasks: Celery's events, none of them lost among threads.

A worker gathers the events of its tasks and sends them together. Celery 5.6 empties what it gathered after sending it:
what another thread says meanwhile is lost, and Flower shows that task as received for ever (celery/celery#10434).
"""

from __future__ import annotations

from celery.app.events import Events as CelerysEvents
from celery.events.dispatcher import EventDispatcher


class Dispatcher(EventDispatcher):  # type: ignore[misc]  # Celery carries no types
    """Celery's, except that only what was sent is taken away."""

    def flush(self, errors: bool = True, groups: bool = True) -> None:  # noqa: FBT001, FBT002  Celery's own signature
        """Send what could not be sent before, and what was gathered since."""
        super().flush(errors=errors, groups=False)
        if groups:
            with self.mutex:
                for group, gathered in list(self._group_buffer.items()):
                    self._send_all(group, gathered)

    def _send_all(self, group: str, gathered: list[object]) -> None:
        if batch := list(gathered):
            self._publish(batch, self.producer, f"{group}.multi")
            del gathered[: len(batch)]


class Events(CelerysEvents):  # type: ignore[misc]  # Celery carries no types
    """Celery's events with our dispatcher."""

    dispatcher_cls = "om_workers.task_events:Dispatcher"

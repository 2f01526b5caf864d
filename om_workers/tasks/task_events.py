"""What Flower is told of tasks: Celery's events, none of them lost among threads or while the broker is away.

A worker gathers the events of its tasks and sends them together. Celery 5.6 empties what it gathered after sending it:
what another thread says meanwhile is lost, and Flower shows that task as received for ever (celery/celery#10434). What
cannot be sent twice in a row is lost too, and so is what a task says that began before the broker went away.
"""

import time
from collections.abc import Callable, Sequence
from functools import partial
from typing import Any, ClassVar, Self
from uuid import uuid4

import structlog
from celery import bootsteps
from celery.app.events import Events
from celery.events.dispatcher import EventDispatcher

from om_api.domain.values import Outcome

TICKS = frozenset({"om.observer_tick", "om.reflector_tick", "om.webhooks", "om.sweep", "om.archive"})
HELD = 100  # ticks that have begun and not ended
MOST = 5_000  # events that wait for a broker that is away
_EVERY_S = 0.5
_IDLE = {repr(str(outcome)) for outcome in (Outcome.REST, Outcome.BUSY)}
_log = structlog.get_logger("om_workers")


class HeldTicks:
    """What is told of ticks: nothing of one that had nothing to do, of any other all of it once it has ended."""

    def __init__(self) -> None:
        self._held: dict[str, list[dict[str, Any]]] = {}

    def pass_on(self, fields: dict[str, Any]) -> list[dict[str, Any]]:
        """The events that are told now that this one happened, each with its `type`."""
        if fields.get("name") in TICKS:
            self._held[fields["uuid"]] = []
            if len(self._held) > HELD:
                self._held.pop(next(iter(self._held)))
        if (held := self._held.get(fields.get("uuid", ""))) is None:
            return [fields]
        held.append({"timestamp": time.time(), **fields})
        if fields["type"] in {"task-received", "task-started"}:
            return []
        self._held.pop(fields["uuid"], None)
        return [] if fields.get("result") in _IDLE else held


class TaskEventSender(EventDispatcher):  # type: ignore[misc]  # Celery carries no types
    """Celery's, but for this: what is said waits in one line until it was sent, and in the order in which it was said.

    A worker makes a new one whenever it connects again, while the tasks it runs go on telling the old one: that one hands
    on what it held (`extend_buffer`), and whatever it is told from then on.
    """

    _heir: "TaskEventSender | None" = None
    _dropped = 0

    def __init__(self, *words: Any, **fields: Any) -> None:
        super().__init__(*words, **{**fields, "on_send_buffered": None})  # `Flushing` sends them
        self._ticks = HeldTicks()

    def send(self, type: str, **fields: Any) -> None:  # noqa: A002 -- Celery's name
        """Say what happened to a task: later, together with others. How it failed is its result: Flower lists no errors."""
        if type == "task-failed":
            fields["result"] = fields.get("exception")
        for told in self._ticks.pass_on({**fields, "type": type}):
            self.tell(**told)

    def tell(self, **told: Any) -> None:
        """Add to the line, or to that of who took over.

        Time 0: a thread finds no heir. Time 1: another sender takes over all that is in line. Time 2: the thread adds to a
        line that nobody sends any more. So it looks again, and hands on what it finds there.
        """
        if self._heir:
            self._heir.tell(**told)
            return
        super().send(**told)
        if self._heir:
            self._heir.extend_buffer(self)

    def publish(self, *words: Any, **fields: Any) -> Any:
        """Say what happened to the worker, at once; what the broker does not take waits with the rest."""
        super().publish(*words, **fields)
        with self.mutex:
            self._trim()

    def flush(self, *_: Any, **__: Any) -> None:
        """Send everything that waits; what the broker does not take waits on."""
        if self._heir:
            return
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
        """Take over from a sender whose connection is gone; what it is told from now on, and what it held."""
        other._heir, self._ticks = self, other._ticks
        with other.mutex, self.mutex:
            other._line_up()
            super().extend_buffer(other)
            other._outbound_buffer.clear()
            self._dropped, other._dropped = self._dropped + other._dropped, 0
            self._trim()
        if self._heir:
            self._heir.extend_buffer(self)

    def close(self) -> None:
        """End, and let whoever sends just now finish: Celery takes the lock away from under it."""
        self.producer = None

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


def as_task(name: str, ids: Sequence[str], work: Callable[[], object]) -> None:
    """Do what Flower is to see as a task of its own, that was never in a queue. What it raises is told, and ends here.

    Outside a worker nothing is told.
    """
    tell = partial(Flushing.sender.send, uuid=str(uuid4())) if Flushing.sender else lambda *_, **__: None
    began = time.monotonic()
    tell("task-received", name=name, args=repr(tuple(ids)), kwargs="{}", retries=0)
    tell("task-started")
    try:
        came = work()
    except Exception as error:  # noqa: BLE001 -- as Celery takes whatever a task raises
        tell("task-failed", exception=repr(error), traceback=None)
    else:
        tell("task-succeeded", result=repr(came), runtime=time.monotonic() - began)


class Flushing(bootsteps.StartStopStep):  # type: ignore[misc]
    """Sends what tasks said twice a second; to do so at each turn of its loop, as Celery does, kept a worker busy."""

    requires = ("celery.worker.consumer.events:Events",)
    sender: ClassVar[Any] = None  # of the connection there is now
    _entry: Any = None

    def start(self, consumer: Any) -> None:
        """Begin, on the timer of the worker's loop."""
        Flushing.sender = consumer.event_dispatcher
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

"""Events of tasks that threads tell while others are being sent are sent with the next."""

import pytest
from celery import Celery
from structlog.testing import capture_logs

from om_api.settings import MemorySettings
from om_workers.tasks.task_events import MOST, TaskEvents


class Wire:
    """A producer that notes what it is given; while it sends, a thread says something more."""

    def __init__(self):
        self.sent, self.meanwhile, self.fails = [], [], False

    def publish(self, events, **_):
        if self.fails:
            raise OSError("the broker is away")
        self.sent.append([event["type"] for event in events])
        for say in self.meanwhile:
            say()
        self.meanwhile = []


@pytest.fixture
def dispatcher():
    with Celery(broker="memory://", events=TaskEvents, set_as_current=False) as app:
        made = app.events.Dispatcher(app.connection_for_write(), buffer_group=["task"], on_send_buffered=lambda: None)
        made.producer = Wire()
        yield made


def test_what_cannot_be_sent_waits_in_order_however_often_it_is_tried(dispatcher):
    """Catches Celery's own way: the second time in vain was the last."""
    dispatcher.producer.fails = True
    for told in ("task-received", "task-started", "task-succeeded"):
        dispatcher.send(told, uuid="1")
        dispatcher.flush()
    dispatcher.producer.fails = False
    dispatcher.flush()
    assert dispatcher.producer.sent == [["task-received"], ["task-started"], ["task-succeeded"]]


def _takes_over(dispatcher):
    after = dispatcher.app.events.Dispatcher(dispatcher.app.connection_for_write(), buffer_group=["task"])
    after.producer = Wire()
    after.extend_buffer(dispatcher)
    return after


TICK = {"uuid": "t", "name": "om.observer_tick"}


def test_idle_ticks_are_not_shown(dispatcher):
    assert MemorySettings().flower_ticks
    for name in ("om.observer_tick", "om.archive"):
        for outcome in ("rest", "busy"):
            dispatcher.send("task-received", uuid="t", name=name)
            dispatcher.send("task-started", uuid="t")
            dispatcher.send("task-received", uuid="1", name="om.observe")
            dispatcher.send("task-succeeded", uuid="t", result=repr(outcome), runtime=0.1)
            dispatcher.flush()
    assert dispatcher.producer.sent == [["task-received"]] * 4
    assert dispatcher._ticks._held == {}


@pytest.mark.parametrize(
    ("ended", "with_"),
    [
        ("task-succeeded", {"result": "'due 2'"}),
        ("task-failed", {"exception": "WorkFailedError('failed: StoreError')"}),
    ],
)
def test_a_tick_that_did_something_is_told_whole_when_it_has_ended(dispatcher, ended, with_):
    dispatcher.send("task-received", **TICK)
    dispatcher.send("task-started", uuid="t")
    dispatcher.flush()
    before = list(dispatcher.producer.sent)
    after = _takes_over(dispatcher)
    dispatcher.send(ended, uuid="t", **with_)
    waiting = list(after._outbound_buffer) + list(after._group_buffer["task"])
    after.flush()
    assert before == []
    assert after.producer.sent == [["task-received", "task-started", ended]]
    assert [event["timestamp"] for event in waiting] == sorted(event["timestamp"] for event in waiting)
    assert dispatcher._ticks._held == {}


def test_of_what_waits_for_a_broker_that_is_away_the_oldest_goes(dispatcher):
    """Catches a worker that grows for as long as its broker is away."""
    dispatcher.producer.fails = True
    for n in range(2 * MOST):
        dispatcher.send("task-received", uuid=str(n))
    dispatcher.flush()
    waiting = [event["uuid"] for events, *_ in dispatcher._outbound_buffer for event in events]
    assert MOST - 24 <= len(waiting) <= MOST
    assert waiting[-1] == str(2 * MOST - 1)
    dispatcher.producer.fails = False
    with capture_logs() as said:
        dispatcher.flush()
    assert [(line["event"], line["dropped"]) for line in said] == [("task_events_dropped", 2 * MOST - len(waiting))]

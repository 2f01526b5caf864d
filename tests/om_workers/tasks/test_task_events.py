"""Events of tasks that threads tell while others are being sent are sent with the next."""

from types import SimpleNamespace

import pytest
from celery import Celery
from structlog.testing import capture_logs

from om_workers import app as house
from om_workers.tasks.task_events import HELD, MOST, Flushing, TaskEvents, TaskEventSender


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


def test_our_application_tells_events_so():
    assert issubclass(house.app.events.Dispatcher, TaskEventSender)


def test_what_is_said_while_others_are_sent_comes_next(dispatcher):
    """Catches Celery's own way: Flower would show a task as received for ever."""
    dispatcher.producer.meanwhile = [lambda: dispatcher.send("task-succeeded", uuid="1")]
    dispatcher.send("task-received", uuid="1")
    dispatcher.flush()
    dispatcher.flush()

    assert dispatcher.producer.sent == [["task-received"], ["task-succeeded"]]


def test_nothing_is_sent_where_nothing_was_said(dispatcher):
    dispatcher.send("task-received", uuid="1")
    for _ in range(3):
        dispatcher.flush()

    assert dispatcher.producer.sent == [["task-received"]]


def test_what_cannot_be_sent_waits_in_order_however_often_it_is_tried(dispatcher):
    """Catches Celery's own way: the second time in vain was the last."""
    dispatcher.producer.fails = True
    for told in ("task-received", "task-started", "task-succeeded"):
        dispatcher.send(told, uuid="1")
        dispatcher.flush()
    dispatcher.producer.fails = False
    dispatcher.flush()

    assert dispatcher.producer.sent == [["task-received"], ["task-started"], ["task-succeeded"]]


def test_a_task_that_began_before_the_broker_went_away_tells_its_end_to_who_came_after(dispatcher):
    """Catches a request that goes on telling a dispatcher which nobody flushes any more."""
    dispatcher.send("task-received", uuid="1")
    dispatcher.close()
    after = dispatcher.app.events.Dispatcher(dispatcher.app.connection_for_write(), buffer_group=["task"])
    after.producer = Wire()
    after.extend_buffer(dispatcher)
    dispatcher.send("task-succeeded", uuid="1")
    after.flush()

    assert after.producer.sent == [["task-received"], ["task-succeeded"]]


def _takes_over(dispatcher):
    after = dispatcher.app.events.Dispatcher(dispatcher.app.connection_for_write(), buffer_group=["task"])
    after.producer = Wire()
    after.extend_buffer(dispatcher)
    return after


class Clock:
    """Ticks just before an event is added to its line; something else happens there, once."""

    def __init__(self, happens):
        self.happens = [happens]

    def forward(self):
        for each in self.happens[:]:
            self.happens.remove(each)
            each()
        return 1


@pytest.mark.parametrize("times", [1, 2])
def test_who_is_about_to_tell_while_another_takes_over_is_heard(dispatcher, times):
    """Catches a thread that looked for an heir before there was one, and adds to a line that nobody sends any more."""
    line = [dispatcher]

    def takes_over():
        for _ in range(times):
            line.append(_takes_over(line[-1]))

    dispatcher.clock = Clock(takes_over)
    dispatcher.send("task-succeeded", uuid="1")
    line[-1].flush()

    assert line[-1].producer.sent == [["task-succeeded"]]
    assert [list(each._outbound_buffer) for each in line] == [[]] * (times + 1)


def test_a_full_line_of_who_was_taken_over_is_not_sent_where_nobody_listens(dispatcher):
    """Catches the 24th event, with which Celery sends by itself: on a connection that is closed it came to nothing."""
    dispatcher.buffer_limit = 1
    line = []
    dispatcher.clock = Clock(lambda: line.append(_takes_over(dispatcher)))
    dispatcher.send("task-succeeded", uuid="1")
    line[0].flush()

    assert (dispatcher.producer.sent, line[0].producer.sent) == ([], [["task-succeeded"]])


def test_who_closes_leaves_the_lock_to_who_holds_it(dispatcher):
    """Catches Celery's own way, which releases a lock that another thread holds: its own release would fail."""
    with dispatcher.mutex:
        dispatcher.close()

        assert dispatcher.mutex.locked()


def test_how_a_task_failed_is_told_as_its_result(dispatcher):
    dispatcher.send("task-failed", uuid="1", exception="WorkFailedError('failed: ModelError (timeout)')")
    (event,) = dispatcher._group_buffer["task"]

    assert event["result"] == "WorkFailedError('failed: ModelError (timeout)')"


TICK = {"uuid": "t", "name": "om.observer_tick"}


@pytest.mark.parametrize("outcome", ["rest", "busy"])
def test_a_tick_that_did_nothing_is_not_told(dispatcher, outcome):
    dispatcher.send("task-received", **TICK)
    dispatcher.send("task-started", uuid="t")
    dispatcher.send("task-received", uuid="1", name="om.observe")
    dispatcher.send("task-succeeded", uuid="t", result=repr(outcome), runtime=0.1)
    dispatcher.flush()

    assert dispatcher.producer.sent == [["task-received"]]
    assert dispatcher._ticks._held == {}


def test_ticks_that_never_end_are_held_up_to_a_bound(dispatcher):
    for n in range(HELD + 50):
        dispatcher.send("task-received", uuid=str(n), name="om.sweep")

    assert list(dispatcher._ticks._held) == [str(n) for n in range(50, HELD + 50)]


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


def test_events_are_sent_twice_a_second_and_not_for_every_task(monkeypatch):
    """Catches Celery's own way, which sends at every turn of its loop, and a timer that each new connection adds."""
    turns, repeated, cancelled = [], [], []

    def repeatedly(*each):
        repeated.append(each)
        return "the entry"

    with Celery(broker="memory://", events=TaskEvents, set_as_current=False) as app:
        made = app.events.Dispatcher(
            app.connection_for_write(), buffer_group=["task"], on_send_buffered=lambda: turns.append(1)
        )
        made.producer = Wire()
        consumer = SimpleNamespace(
            hub=object(),
            timer=SimpleNamespace(call_repeatedly=repeatedly, cancel=cancelled.append),
            _flush_events=made.flush,
            event_dispatcher=made,
        )
        monkeypatch.setattr(Flushing, "sender", None)
        step = Flushing(consumer)
        step.start(consumer)
        for told in ("task-received", "task-started", "task-succeeded"):
            made.send(told, uuid="1")
        ((every, flush),) = repeated
        flush()
        step.stop(consumer)
        step.stop(consumer)

    assert (turns, every, cancelled) == ([], 0.5, ["the entry"])
    assert made.producer.sent == [["task-received", "task-started", "task-succeeded"]]


def test_our_workers_send_events_so():
    assert Flushing in house.app.steps["consumer"]

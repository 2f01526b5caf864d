"""A worker that ends gives back what no thread has begun, and who asks twice has calls in flight left at once."""

import signal
import threading
from types import SimpleNamespace

import pytest
from celery.concurrency.thread import TaskPool

from om_workers.tasks import handover, wiring


@pytest.fixture
def stops(monkeypatch):
    """How this process was told to stop, in order: at once or not."""
    told = []
    monkeypatch.setattr(wiring, "stop", lambda *, at_once=False: told.append(at_once))
    monkeypatch.setattr(wiring, "stops", lambda: bool(told))
    return told


def test_what_no_thread_has_begun_goes_back_to_its_queue_and_what_runs_may_end(stops):
    """Catches a pool that is waited for, as Celery does: it begins even what was still waiting."""
    pool, begun, may_end, given_back = TaskPool(1), threading.Event(), threading.Event(), []
    running = pool.executor.submit(lambda: (begun.set(), may_end.wait(30)))
    waiting = pool.executor.submit(pytest.fail, "begun")
    begun.wait(30)
    queue = SimpleNamespace(recover=lambda *, requeue: given_back.append(requeue))
    consumer = SimpleNamespace(task_consumer=queue, connection_errors=(), channel_errors=())
    handover.HandOver(None).stop(SimpleNamespace(pool=pool, consumer=consumer))

    assert (stops, waiting.cancelled(), running.done(), given_back) == ([False], True, False, [True])
    may_end.set()
    assert running.result(30)


def test_the_first_signal_asks_gently_and_the_second_one_at_once(stops):
    interrupt = signal.getsignal(signal.SIGINT)
    try:
        handover.asked()
        handover.asked()
    finally:
        signal.signal(signal.SIGINT, interrupt)

    assert stops == [False, True]

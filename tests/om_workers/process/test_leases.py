"""One thread renews everything that is held, and goes on when something of it is lost."""

import threading

from structlog.testing import capture_logs
from world import wait_until

from om_api.store.driver.connection import Connection
from om_api.store.driver.locks import Lease
from om_api.store.memory import due
from om_workers.process.heartbeat import Heartbeat


def _claims(store, *names):
    index = store.keys.due_reflect
    store.run(due.mark(index, names))
    return index, store.run(due.claim(index, len(names), 600))


def test_a_lease_that_is_lost_stops_no_other(store):
    """Catches a beat that ends at a claim that is gone: every model call of the process would lose its lease."""
    index, (lost, kept) = _claims(store, "albert", "harold")
    beat = Heartbeat(Connection(store.client), lease_s=0.3)
    with capture_logs() as lines, beat.lease(index, lost) as first, beat.lease(index, kept) as second:
        store.run(due.mark(index, ["albert"]))
        wait_until(lambda: first.claim is None, "the loss")
        before = second.claim
        wait_until(lambda: second.claim != before, "a renewal after it")
        assert second.claim is not None
    assert lines == []
    beat.stop()


def test_nothing_is_renewed_for_work_that_nobody_claimed(store):
    beat = Heartbeat(Connection(store.client), lease_s=0.3)
    with beat.lease(store.keys.due_reflect, None) as held:
        assert held is None
    beat.stop()


def test_one_thread_renews_everything(store):
    beat = Heartbeat(Connection(store.client), lease_s=30)
    before = set(threading.enumerate())
    with beat.lock(f"{store.keys.prefix}:lock:a"), beat.lock(f"{store.keys.prefix}:lock:b"):
        assert len(set(threading.enumerate()) - before) == 1
    beat.stop()


def test_no_thread_is_there_for_nothing_and_what_comes_later_is_renewed(store, monkeypatch):
    """Catches a thread left behind by everyone who ever held something: hundreds of them, all waking up for nothing."""
    renewed, renew = [], Lease.renew
    monkeypatch.setattr(Lease, "renew", lambda lock: renewed.append(renew(lock)) or renewed[-1])
    beat, before = Heartbeat(Connection(store.client), lease_s=0.6), set(threading.enumerate())
    with beat.lock(f"{store.keys.prefix}:lock:a"):
        assert len(set(threading.enumerate()) - before) == 1
    wait_until(lambda: not set(threading.enumerate()) - before, "the thread to end")

    with beat.lock(f"{store.keys.prefix}:lock:b"):
        wait_until(lambda: len(renewed) > 1, "renewals")
        assert all(renewed)
    beat.stop()


def test_a_lock_that_was_lost_is_said_in_the_log_and_one_that_was_kept_is_not(store, monkeypatch):
    renewed, renew = [], Lease.renew
    monkeypatch.setattr(Lease, "renew", lambda lock: renewed.append(renew(lock)) or renewed[-1])
    beat, name = Heartbeat(Connection(store.client), lease_s=0.3), f"{store.keys.prefix}:lock:a"
    with capture_logs() as lines, beat.lock(name):
        wait_until(lambda: renewed, "a renewal")
    assert lines == []

    with capture_logs() as lines, beat.lock(name):
        store.client.set(name, "another", px=5000)
        wait_until(lambda: lines, "a renewal in vain")
    assert {line["event"] for line in lines} == {"lock_not_renewed", "lock_was_lost"}
    beat.stop()


def test_a_lock_whose_work_ended_while_it_was_renewed_was_not_lost(store, monkeypatch):
    beat, asked = Heartbeat(Connection(store.client), lease_s=0.3), []

    def ended(lock):
        beat._locks.discard(lock)
        asked.append(lock)
        return False

    monkeypatch.setattr(Lease, "renew", ended)
    with capture_logs() as lines, beat.lock(f"{store.keys.prefix}:lock:a"):
        wait_until(lambda: asked, "a renewal")
        beat.stop()
    assert lines == []


class Word:
    """What a process says of itself, written down."""

    def __init__(self):
        self.said = []

    def renew(self, lives_s):
        self.said.append("here")

    def end(self):
        self.said.append("gone")


def test_a_process_that_never_was_ready_says_nothing_of_itself(store):
    beat = Heartbeat(Connection(store.client), lease_s=0.1, presence=(word := Word()))
    with beat.lease(*_one_claim(store)) as held:
        before = held.claim
        wait_until(lambda: held.claim != before, "a beat")
    beat.stop()

    assert word.said == []


def test_a_heartbeat_without_a_word_to_say_beats_all_the_same(store):
    beat = Heartbeat(Connection(store.client), lease_s=0.3)
    with capture_logs() as lines:
        beat.begin()
        with beat.lease(*_one_claim(store)) as held:
            before = held.claim
            wait_until(lambda: held.claim != before, "a renewal")
        beat.stop()
    assert lines == []


def _one_claim(store):
    index, (claim,) = _claims(store, "harold")
    return index, claim


def test_the_last_word_is_that_the_process_is_gone(store):
    """Time 0: a beat begins to say "here". Time 1: the process stops and says "gone". Time 2: "here" must not come after it."""
    begun, word = threading.Event(), Word()

    def slowly(lives_s):
        begun.set()
        threading.Event().wait(0.2)
        word.said.append("here")

    word.renew = slowly
    beat = Heartbeat(Connection(store.client), lease_s=30, presence=word)
    beat.begin()
    begun.wait(5)
    beat.stop()
    beat._thread.join(5)

    assert word.said == ["here", "gone"]

"""Leases are renewed while their work runs, and a process is seen while it lives."""

import os
import threading

from ports import reserve_port
from structlog.testing import capture_logs
from world import wait_until

from om_api.domain.errors import StoreError
from om_api.store.driver.connection import Connection, open_client
from om_api.store.driver.locks import Lease
from om_api.store.fleet import health, presence
from om_api.store.fleet.presence import Worker
from om_api.store.memory import due
from om_api.store.memory.keys import Keys
from om_workers.process.heartbeat import Heartbeat
from om_workers.process.presence import Presence, foreign_worker

# Leases of 3 s are renewed after one: a process that gets no time for two seconds on a busy machine keeps its lock.


def test_a_lock_outlives_its_lease_while_its_work_runs(client, prefix):
    beat, name = Heartbeat(Connection(client), lease_s=3), f"{prefix}:lock:x"
    with beat.lock(name) as mine:
        expires = client.pexpiretime(name)
        wait_until(lambda: client.pexpiretime(name) > expires, "a renewal")
        assert mine
        with Heartbeat(Connection(client), lease_s=3).lock(name) as second:
            assert not second
    assert not client.exists(name)
    beat.stop()
    beat = Heartbeat(Connection(client))
    with beat.lock(name):
        assert 20_000 < client.pttl(name) <= 30_000
    beat.stop()


def test_a_claim_is_renewed_for_a_lease_from_then_on_until_a_push_marks_its_scope_due(store):
    connection, index = Connection(store.client), store.keys.due_reflect
    store.run(due.mark(index, ["harold"]))
    (claim,) = store.run(due.claim(index, 1, 3_000))
    beat = Heartbeat(connection, lease_s=3)
    with beat.lease(index, claim) as held:
        wait_until(lambda: held.claim != claim, "a renewal")
        seconds, micros = store.client.time()
        assert 2_000 < float(held.claim.lease) - (seconds * 1_000 + micros / 1_000) <= 3_001
        store.run(due.mark(index, ["harold"]))
        wait_until(lambda: held.claim is None, "the loss")
    beat.stop()


def test_what_a_process_keeps_besides_is_kept_at_every_beat_and_its_failure_stops_no_renewal(store):
    beats = []

    def keep():
        beats.append(1)
        raise StoreError("the store is away")

    beat = Heartbeat(Connection(store.client), lease_s=3)
    with capture_logs() as lines, beat.lock(f"{store.keys.prefix}:lock:x") as mine:
        beat.begin(keep)
        wait_until(lambda: len(beats) > 1, "beats")
        assert mine
        assert store.client.exists(f"{store.keys.prefix}:lock:x")
    assert lines == []
    beat.stop()


def _presence(store, lease_s=3):
    connection = Connection(store.client)
    return Heartbeat(connection, lease_s=lease_s, presence=Presence(connection, store.keys))


def test_a_process_is_present_from_when_it_begins_until_it_ends(store):
    beat = _presence(store)
    assert store.run(health.workers(store.keys)) == []
    beat.begin()
    wait_until(lambda: store.run(health.workers(store.keys)), "the first word")
    (worker,) = store.run(health.workers(store.keys))
    first = store.client.zscore(store.keys.workers, worker.name)
    wait_until(lambda: store.client.zscore(store.keys.workers, worker.name) > first, "a renewal")
    assert (worker.pid, worker.host in worker.name) == (os.getpid(), True)
    assert abs(worker.skew_ms) < 2_000
    beat.stop()
    assert store.client.keys(f"{store.keys.prefix}*") == []


def test_a_beat_that_goes_wrong_is_not_the_last(store, monkeypatch):
    """Breaks when the thread dies of what one beat raised: every lease of the process would be lost from then on."""
    beat = _presence(store)
    renew, calls = beat._presence.renew, []

    def wrong_once(lives_s):
        calls.append(lives_s)
        if len(calls) == 1:
            raise RuntimeError("a bug")
        renew(lives_s)

    monkeypatch.setattr(beat._presence, "renew", wrong_once)
    beat.begin()
    wait_until(lambda: store.run(health.workers(store.keys)), "the second beat")
    beat.stop()


def test_a_store_that_is_away_is_said_once_and_begin_does_not_wait_for_it():
    """Breaks when presence is written where the worker starts, or logs at every beat of an outage."""
    connection = Connection(open_client(f"redis://127.0.0.1:{reserve_port()}/0", 0.2))
    beats, beat = [], Heartbeat(connection, lease_s=0.1, presence=Presence(connection, Keys("p")))
    with capture_logs() as lines:
        beat.begin(lambda: beats.append(1))
        wait_until(lambda: lines and len(beats) > 3, "the word that the store is away, and more beats")
        beat.stop()
    assert [line["event"] for line in lines] == ["store_away"]


def _claims(store, *names):
    index = store.keys.due_reflect
    store.run(due.mark(index, names))
    return index, store.run(due.claim(index, len(names), 6_000))


def test_a_lease_that_is_lost_stops_no_other(store):
    """Catches a beat that ends at a claim that is gone: every model call of the process would lose its lease."""
    index, (lost, kept) = _claims(store, "albert", "harold")
    beat = Heartbeat(Connection(store.client), lease_s=3)
    with capture_logs() as lines, beat.lease(index, lost) as first, beat.lease(index, kept) as second:
        store.run(due.mark(index, ["albert"]))
        wait_until(lambda: first.claim is None, "the loss")
        before = second.claim
        wait_until(lambda: second.claim != before, "a renewal after it")
        assert second.claim is not None
    assert lines == []
    beat.stop()


def test_no_thread_is_there_for_nothing_and_what_comes_later_is_renewed(store, monkeypatch):
    """Catches a thread left behind by everyone who ever held something: hundreds of them, all waking up for nothing."""
    renewed, renew = [], Lease.renew
    monkeypatch.setattr(Lease, "renew", lambda lock: renewed.append(renew(lock)) or renewed[-1])
    beat, before = Heartbeat(Connection(store.client), lease_s=3), set(threading.enumerate())
    with beat.lock(f"{store.keys.prefix}:lock:a"):
        assert len(set(threading.enumerate()) - before) == 1
    wait_until(lambda: not set(threading.enumerate()) - before, "the thread to end")
    renewed.clear()  # the first lock may have been released while it was renewed
    with beat.lock(f"{store.keys.prefix}:lock:b"):
        wait_until(lambda: len(renewed) > 1, "renewals")
        assert all(renewed)
    beat.stop()


def test_a_lock_that_was_lost_is_said_in_the_log_and_not_taken_back_and_one_that_was_kept_is_not(store, monkeypatch):
    renewed, renew = [], Lease.renew
    monkeypatch.setattr(Lease, "renew", lambda lock: renewed.append(renew(lock)) or renewed[-1])
    beat, name = Heartbeat(Connection(store.client), lease_s=3), f"{store.keys.prefix}:lock:a"
    with capture_logs() as lines, beat.lock(name):
        wait_until(lambda: renewed, "a renewal")
    assert lines == []
    with capture_logs() as lines, beat.lock(name):
        store.client.set(name, "another", px=5000)
        wait_until(lambda: lines, "a renewal in vain")
    assert {line["event"] for line in lines} == {"lock_not_renewed", "lock_was_lost"}
    assert store.client.get(name) == b"another"
    beat.stop()


def test_a_lock_whose_work_ended_while_it_was_renewed_was_not_lost(store, monkeypatch):
    beat, asked = Heartbeat(Connection(store.client), lease_s=3), []

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
    def __init__(self):
        self.said = []

    def renew(self, lives_s):
        self.said.append("here")

    def end(self):
        self.said.append("gone")


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


def test_the_dead_do_not_pile_up_while_others_live(store):
    for name, lives_ms in (("dead-1", 50), ("dead-2", 50), ("alive", 5_000)):
        store.run(presence.here(store.keys, Worker(name=name, host="h", pid=1, version="1"), lives_ms))
    wait_until(lambda: len(store.run(health.workers(store.keys))) == 1, "them to be dead")
    store.run(presence.here(store.keys, Worker(name="alive", host="h", pid=1, version="1"), 5_000))
    assert store.client.zrange(store.keys.workers, 0, -1) == [b"alive"]


def test_foreign_worker_names_a_live_worker_of_another_layout(store):
    own = Worker(name="own", host="h", pid=1, version="1", layout=presence.LAYOUT)
    store.run(presence.here(store.keys, own))
    assert foreign_worker(Connection(store.client), store.keys) is None
    store.run(presence.here(store.keys, Worker(name="older", host="h", pid=1, version="0.0.9")))  # says no layout
    assert foreign_worker(Connection(store.client), store.keys).name == "older"


def test_a_process_says_by_which_settings_it_goes_each_time_it_says_that_it_lives(store):
    """Catches a fingerprint that stays what it was at the start, though the worker took a file up."""
    said = iter(["one", "two"])
    presence_ = Presence(Connection(store.client), store.keys, lambda: next(said))
    seen = []
    for _ in range(2):
        presence_.renew(30)
        seen += [worker.settings for worker in store.run(health.workers(store.keys))]
    assert seen == ["one", "two"]

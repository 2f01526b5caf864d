"""Leases are renewed while their work runs, and not fought for once lost."""

import os
import time

from ports import reserve_port
from structlog.testing import capture_logs
from world import wait_until

from om_api.domain.errors import StoreError
from om_api.store.driver.connection import Connection, open_client
from om_api.store.fleet import health
from om_api.store.memory import due
from om_api.store.memory.keys import Keys
from om_workers.process.heartbeat import Heartbeat
from om_workers.process.presence import Presence


def test_a_lock_outlives_its_lease_while_its_work_runs(client, prefix):
    beat = Heartbeat(Connection(client), lease_s=0.3)
    with beat.lock(f"{prefix}:lock:x") as mine:
        time.sleep(0.8)
        assert mine
        with Heartbeat(Connection(client), lease_s=0.3).lock(f"{prefix}:lock:x") as second:
            assert not second
    assert not client.exists(f"{prefix}:lock:x")
    beat.stop()


def test_a_lock_is_held_for_half_a_minute_unless_it_is_renewed(client, prefix):
    beat = Heartbeat(Connection(client))
    with beat.lock(f"{prefix}:lock:x"):
        assert 29_000 < client.pttl(f"{prefix}:lock:x") <= 30_000
    beat.stop()


def test_a_lock_is_gone_a_lease_after_its_holder_died(client, prefix):
    from om_api.store.driver.locks import Lease

    assert Lease(Connection(client), f"{prefix}:lock:x", 0.2).acquire()

    wait_until(lambda: Lease(Connection(client), f"{prefix}:lock:x", 0.2).acquire(), "the lease to run out", 2)


def test_a_stolen_lock_is_not_taken_back(client, prefix):
    beat = Heartbeat(Connection(client), lease_s=0.3)
    with beat.lock(f"{prefix}:lock:x"):
        client.set(f"{prefix}:lock:x", "another", px=5000)
        time.sleep(0.4)
    assert client.get(f"{prefix}:lock:x") == b"another"
    beat.stop()


def test_a_claim_is_renewed_until_a_push_marks_its_scope_due(store):
    connection, index = Connection(store.client), store.keys.due_reflect
    store.run(due.mark(index, ["harold"]))
    (claim,) = store.run(due.claim(index, 1, 300))
    beat = Heartbeat(connection, lease_s=0.3)
    with beat.lease(index, claim) as held:
        wait_until(lambda: held.claim != claim, "a renewal")
        store.run(due.mark(index, ["harold"]))
        wait_until(lambda: held.claim is None, "the loss")
    beat.stop()


def test_a_claim_is_renewed_for_a_lease_from_then_on(store):
    index = store.keys.due_reflect
    store.run(due.mark(index, ["harold"]))
    (claim,) = store.run(due.claim(index, 1))
    beat = Heartbeat(Connection(store.client), lease_s=3)
    with beat.lease(index, claim) as held:
        wait_until(lambda: held.claim != claim, "a renewal")
        seconds, micros = store.client.time()
        assert 2_000 < float(held.claim.lease) - (seconds * 1_000 + micros / 1_000) <= 3_001
    beat.stop()


def test_what_a_process_keeps_besides_is_kept_at_every_beat_and_its_failure_stops_no_renewal(store):
    beats = []

    def keep():
        beats.append(1)
        raise StoreError("the store is away")

    beat = Heartbeat(Connection(store.client), lease_s=0.3)
    with capture_logs() as lines, beat.lock(f"{store.keys.prefix}:lock:x") as mine:
        beat.begin(keep)
        wait_until(lambda: len(beats) > 3, "beats")
        assert mine
        assert store.client.exists(f"{store.keys.prefix}:lock:x")
    assert lines == []
    beat.stop()


def _presence(store, lease_s=0.3):
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
    beat = Heartbeat(connection, lease_s=0.1, presence=Presence(connection, Keys("p")))
    with capture_logs() as lines:
        beat.begin()
        wait_until(lambda: lines, "the word that the store is away")
        time.sleep(0.5)
        beat.stop()

    assert [line["event"] for line in lines] == ["store_away"]

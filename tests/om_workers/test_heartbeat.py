"""Leases are renewed while their work runs, and not fought for once lost."""

from __future__ import annotations

import time

from world import wait_until

from om_api.store import due
from om_api.store.connection import Connection
from om_workers.heartbeat import Heartbeat


def test_a_lock_outlives_its_lease_while_its_work_runs(client, prefix):
    beat = Heartbeat(Connection(client), lease_s=0.3)
    with beat.lock(f"{prefix}:lock:x") as mine:
        time.sleep(0.8)
        assert mine
        with Heartbeat(Connection(client), lease_s=0.3).lock(f"{prefix}:lock:x") as second:
            assert not second
    assert not client.exists(f"{prefix}:lock:x")
    beat.stop()


def test_a_lock_is_gone_a_lease_after_its_holder_died(client, prefix):
    from om_api.store.locks import Lease

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

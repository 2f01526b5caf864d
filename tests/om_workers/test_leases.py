"""One thread renews everything that is held, and goes on when something of it is lost."""

from __future__ import annotations

import threading

from structlog.testing import capture_logs
from world import wait_until

from om_api.store import due
from om_api.store.connection import Connection
from om_api.store.locks import Lease
from om_workers.heartbeat import Heartbeat


def _claims(store, *names):
    index = store.keys.due_reflect
    store.run(due.mark(index, names))
    return index, store.run(due.claim(index, len(names), 600))


def test_a_lease_that_is_lost_stops_no_other(store):
    """Catches a beat that ends at a claim that is gone: every model call of the process would lose its lease."""
    index, (lost, kept) = _claims(store, "albert", "harold")
    beat = Heartbeat(Connection(store.client), lease_s=0.3)
    with beat.lease(index, lost) as first, beat.lease(index, kept) as second:
        store.run(due.mark(index, ["albert"]))
        wait_until(lambda: first.claim is None, "the loss")
        before = second.claim
        wait_until(lambda: second.claim != before, "a renewal after it")
        assert second.claim is not None
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

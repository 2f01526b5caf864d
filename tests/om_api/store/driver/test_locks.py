"""A lease is one holder's at a time: who lost it neither renews nor ends another one's."""

import pytest
from ports import reserve_port

from om_api.domain.errors import StoreError
from om_api.store.driver.connection import Connection, open_client
from om_api.store.driver.locks import Lease


def lease(store):
    return Lease(Connection(store.client), f"{store.keys.prefix}:lock:x", 5)


def test_of_two_who_try_one_has_it_until_it_is_let_go(store):
    first, second = lease(store), lease(store)

    assert (first.acquire(), second.acquire()) == (True, False)
    assert first.release()
    assert second.acquire()


def test_a_renewed_lease_begins_anew(store):
    held = lease(store)
    held.acquire()
    store.client.pexpire(held.name, 1_000)

    assert held.renew()
    assert 4_000 < store.client.pttl(held.name) <= 5_000


def test_who_lost_a_lease_neither_renews_nor_ends_the_next_ones(store):
    """Time 0: a lease runs out. Time 1: another one takes it. Time 2: the first comes back."""
    late, following = lease(store), lease(store)
    late.acquire()
    store.client.delete(late.name)
    following.acquire()
    store.client.pexpire(late.name, 1_000)

    assert (late.renew(), late.release()) == (False, False)
    assert 0 < store.client.pttl(late.name) <= 1_000
    assert following.release()


def test_where_the_store_is_away_nobody_has_a_lease():
    held = Lease(Connection(open_client(f"redis://127.0.0.1:{reserve_port()}/0", 0.2)), "x", 5)

    with pytest.raises(StoreError, match="OM_REDIS_URL"):
        held.acquire()
    assert (held.renew(), held.release()) == (False, False)

"""A key with a rate is held to it, whichever process it asks, and told how long to wait."""

import pytest
from world import wait_until

from om_api.store.driver.connection import Connection, open_client
from om_api.store.fleet import api_key_records, request_pace


@pytest.fixture
def key(store):
    made, _ = store.run(api_key_records.create(store.keys, ["harold"], "reader", rate="3/m"))
    return made


def test_as_many_as_permitted_and_no_more(store, key):
    waits = [store.run(request_pace.take(store.keys, key)) for _ in range(4)]

    assert waits[:3] == [0, 0, 0]
    assert 0 < waits[3] <= 60
    assert 0 < store.client.pttl(store.keys.paced(key.id)) <= 60_000


def test_who_is_refused_waits_no_longer_for_having_asked(store, key):
    for _ in range(3):
        store.run(request_pace.take(store.keys, key))
    waits = [store.run(request_pace.take(store.keys, key)) for _ in range(5)]

    assert sorted(waits, reverse=True) == waits
    assert store.client.llen(store.keys.paced(key.id)) == 3


def test_a_window_moves_on(store):
    key, _ = store.run(api_key_records.create(store.keys, ["harold"], "reader", rate="1/s"))
    first = [store.run(request_pace.take(store.keys, key)) for _ in range(2)]

    assert first[0] == 0 < first[1]
    wait_until(lambda: store.run(request_pace.take(store.keys, key)) == 0, "the next second")


def test_a_key_without_a_rate_is_not_counted(store):
    key, _ = store.run(api_key_records.create(store.keys, ["harold"], "reader"))

    assert list(request_pace.take(store.keys, key)) == []
    assert store.run(request_pace.take(store.keys, key)) == 0
    assert not store.client.exists(store.keys.paced(key.id))


def test_a_clock_that_was_set_back_lets_nobody_wait_for_longer_than_a_window(store, key):
    store.client.rpush(store.keys.paced(key.id), *[10**15] * 3)
    store.client.pexpire(store.keys.paced(key.id), 60_000)

    assert store.run(request_pace.take(store.keys, key)) == 60


def test_many_connections_share_one_rate(server_client, server_url, prefix):
    keys = api_key_records.Keys(prefix)
    processes = [Connection(open_client(server_url)) for _ in range(4)]
    key, _ = processes[0].run(api_key_records.create(keys, ["harold"], "reader", rate="5/m"))
    waits = [each.run(request_pace.take(keys, key)) for each in processes * 3]
    for each in processes:
        each.close()

    assert waits.count(0) == 5

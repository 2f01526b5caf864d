"""Limits of a model that all workers share: windows of calls and tokens."""

import threading
from concurrent.futures import ThreadPoolExecutor
from types import SimpleNamespace

import pytest
import redis

from om_api.domain.errors import StoreError
from om_api.store.driver.connection import Connection
from om_api.store.fleet.rates import Rate, RateLimiter
from om_api.store.memory.keys import safe_name

MODEL = "some model"


@pytest.fixture
def shared(store):
    return RateLimiter(Connection(store.client), store.keys)


def taken(shared, rate, tokens=1, times=50):
    return sum(shared.take(MODEL, rate, tokens) == 0 for _ in range(times))


def test_no_more_calls_than_the_limit_are_made_at_once_and_the_rest_hear_when_to_come_back(shared):
    rate = Rate(requests_per_minute=2)  # spread: one in 30 seconds

    assert taken(shared, rate) == 1
    assert 30 <= shared.take(MODEL, rate, 1) <= 31


def test_a_minute_has_no_more_calls_than_the_limit_however_slowly_they_come(store, shared, monkeypatch):
    # breaks when only the window that spreads them is looked at
    now = shared._storage.now()
    made = []
    for tick in range(600):  # five a second for two minutes
        monkeypatch.setattr(shared._storage, "now", lambda at=now + tick / 5: at)
        if shared.take(MODEL, Rate(requests_per_minute=70), 1) == 0:
            made.append(tick / 5)

    assert len(made) == 140
    assert max(sum(start <= at < start + 60 for at in made) for start in made) == 70


def test_calls_are_counted_by_the_servers_clock_whatever_a_worker_believes(store, shared, monkeypatch):
    rate = Rate(requests_per_minute=1)
    assert taken(shared, rate, times=1) == 1
    monkeypatch.setattr("limits.storage.redis.time", SimpleNamespace(time=lambda: 4_000_000_000.0))

    assert taken(shared, rate) == 0


def test_tokens_of_a_minute_are_limited_as_well(store, shared):
    assert taken(shared, Rate()) == 50
    assert store.client.keys(f"{store.keys.prefix}*") == []
    rate = Rate(tokens_per_minute=1_000)
    assert taken(shared, rate, tokens=300) == 3
    assert 0 < shared.take(MODEL, rate, 300) < 60
    assert taken(shared, rate, tokens=70, times=1) == 1
    # a request that is larger than a minute's tokens takes all of one
    assert [shared.take("another", rate, tokens) == 0 for tokens in (5_000, 1)] == [True, False]


def test_a_call_that_lacks_tokens_costs_no_request(shared):
    rate = Rate(requests_per_minute=60, tokens_per_minute=100)
    assert taken(shared, rate, tokens=100, times=1) == 1
    shared.take("other", Rate(), 1)

    assert taken(shared, rate, tokens=100, times=9) == 0
    assert shared._storage.get_moving_window(f"requests/{safe_name(MODEL)}/60/60/second", 60, 60)[1] == 1


def test_a_store_that_is_away_is_said_as_such(shared, monkeypatch):
    def away(*_, **__):
        raise redis.ConnectionError("no answer")

    monkeypatch.setattr(shared._storage, "acquire_entry", away)
    with pytest.raises(StoreError):
        shared.take(MODEL, Rate(requests_per_minute=1), 1)


def test_32_threads_of_two_workers_get_no_place_more_than_there_are(store, monkeypatch):
    at_once, workers = threading.Barrier(32), [RateLimiter(Connection(store.client), store.keys) for _ in range(2)]
    now = workers[0]._storage.now()
    for each in workers:
        monkeypatch.setattr(each._storage, "now", lambda: now)

    def take(number):
        at_once.wait(30)
        return workers[number % 2].take(MODEL, Rate(requests_per_minute=600), 1)

    with ThreadPoolExecutor(32) as pool:
        assert list(pool.map(take, range(32))).count(0) == 10  # a second's

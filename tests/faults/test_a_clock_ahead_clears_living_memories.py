"""A worker whose clock is ttl_days ahead clears every memory at its first sweep, fresh ones included."""

import time

import pytest
import redis
from world import World


@pytest.fixture
def client(server_url, prefix):  # fakeredis tells the client's time, wrong as it is: a real server only
    with redis.Redis.from_url(server_url) as real:
        yield real
        if left := list(real.scan_iter(f"{prefix}*")):
            real.unlink(*left)


def test_a_worker_with_a_wrong_clock_clears_nothing(client, prefix, monkeypatch):
    house = World(client, prefix, ttl_days="1")
    house.say(*"abcdefghijkl")
    house.settle()
    house.sweep()
    before = house.covering()
    another = World(client, prefix, ttl_days="1")  # a worker that never pushed or adopted: it knows no offset
    right = time.time
    monkeypatch.setattr(time, "time", lambda: right() + 2 * 86_400)
    assert another.sweep().cleared == 0
    assert house.covering() == before


def test_a_worker_with_a_wrong_clock_hides_no_resource_from_the_sweep_of_others(client, prefix, monkeypatch):
    house = World(client, prefix)
    house.say("a")
    house.settle()
    client.zadd(house.services.keys.resources, {"harold": 1})
    right = time.time
    with monkeypatch.context() as wrong:
        wrong.setattr(time, "time", lambda: right() + 5 * 3_600)
        World(client, prefix).sweep()
    assert client.zscore(house.services.keys.resources, "harold") <= right() * 1000 + 1_000

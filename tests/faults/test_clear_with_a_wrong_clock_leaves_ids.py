"""A process with a wrong clock that clears left ids behind: what was pushed next under one of them was a duplicate of nothing."""

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


def test_a_cleared_memory_takes_its_ids_again(client, prefix, monkeypatch):
    house = World(client, prefix)
    house.say("old", id="m-1")
    right = time.time
    with monkeypatch.context() as wrong:
        wrong.setattr(time, "time", lambda: right() + 5 * 3_600)
        World(client, prefix).om.clear("harold")  # `om clear` in a process of its own
    assert list(client.scan_iter(f"{prefix}:{{harold}}:*")) == []
    house.say("new", id="m-1")
    assert house.covering() == ["m-1"]

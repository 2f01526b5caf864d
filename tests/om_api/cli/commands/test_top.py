"""`om top`: who is worth a look, by pressure, cost, lag or activity."""

import time

import pytest


@pytest.fixture
def three(world):
    """Three agents: albert's window is the fullest, berta costs most, and clara spoke last and is due."""
    world.say(*["x"] * 5, resource="albert", tokens=100)
    world.say("x", resource="berta", tokens=50)
    world.say("x", resource="clara", tokens=60)
    world.settle()
    now = int(time.time() * 1000)
    base = f"{world.prefix}:resources"
    world.client.zadd(base, {"albert": now, "berta": now - 1, "clara": now - 2})
    day = time.strftime("%Y-%m-%d", time.gmtime())
    world.client.hset(
        f"{world.prefix}:spent:{day}:berta", mapping={"all|micros": 2_000_000, "scripted|observe|micros": 2_000_000}
    )
    world.client.expire(f"{world.prefix}:spent:{day}:berta", 1000)
    world.client.zadd(f"{world.prefix}:due:observe", {"clara": now - 7_000})
    world.client.zadd(f"{world.prefix}:{{clara}}:threads", {"t-1": now + 3_600_000})
    return world


def test_the_agent_with_most_of_it_comes_first(om_json, three):
    for order, first in {"pressure": "albert", "cost": "berta", "lag": "clara", "activity": "clara"}.items():
        found = om_json("top", "--sort", order)
        assert (found["items"][0]["resource"], found["known"], found["complete"]) == (first, 3, True), order


def test_an_empty_store_has_nobody_to_show(om):
    result = om("top", "--once")
    assert (result.exit_code, result.stdout) == (0, "")
    assert "no worker has met" in result.stderr

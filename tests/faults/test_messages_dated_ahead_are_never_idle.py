"""A thread whose last message is dated ahead (a client's clock) is heard of anew at every look: it never lies idle."""

import time

from world import World


def test_a_thread_dated_ahead_is_observed_when_idle_like_any_other(client, prefix):
    house = World(client, prefix, observe_idle_after="1s")
    house.say("a", tokens=50, timestamp=time.time() + 5 * 3_600)
    house.say("b", tokens=50, thread="t-2")
    for _ in range(6):
        for name in client.zrange(house.services.keys.due_observe, 0, -1):
            client.zadd(house.services.keys.due_observe, {name: 1})
        house.tick()
        time.sleep(0.6)
    assert client.zcard(f"{prefix}:{{harold}}:messages:t-2") == 0
    assert client.zcard(f"{prefix}:{{harold}}:messages:t-1") == 0

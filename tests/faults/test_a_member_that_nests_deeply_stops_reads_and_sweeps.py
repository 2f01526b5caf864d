"""A plain member that Python cannot decode (RecursionError, OverflowError) is neither rejected nor skipped.

Every get_context of its thread raises, adoption raises, and the sweep of the whole store dies at it, for ever.
"""

import pytest
from world import World

_BAD = {
    "a thousand lists": b'{"id":"d","role":"user","content":' + b"[" * 5000 + b"]" * 5000 + b"}",
    "a timestamp of 400 digits": b'{"id":"d","role":"user","content":"x","timestamp":1' + b"0" * 400 + b"}",
}


@pytest.fixture(params=_BAD)
def house(request, client, prefix):
    house = World(client, prefix)
    client.zadd(f"{prefix}:{{bad}}:messages:t-1", {_BAD[request.param]: 1_790_000_000_000})
    return house


def test_its_thread_can_still_be_read(house):
    house.say("good", resource="bad")
    assert "good" in [message.content for message in house.context(resource="bad").messages]


def test_it_is_quarantined_and_the_sweep_goes_on(house, client, prefix):
    client.zadd(f"{prefix}:{{good}}:messages:t-1", {b'{"id":"g","role":"user","content":"x"}': 1_790_000_000_000})
    house.sweep()
    assert client.llen(f"{prefix}:{{bad}}:rejected") == 1 or client.hget(f"{prefix}:{{bad}}:tokens", "#t-1") == b"1"
    assert client.hget(f"{prefix}:{{good}}:tokens", "#t-1") == b"1"

"""Run with OM_TEST_REDIS_URL at Redis 7.0: under maxmemory it refuses every MULTI, so every read and `clear` fails.

The error says "clear idle memories", and `om clear` cannot. Valkey and newer servers let this pass.
"""

import pytest
import redis
from world import World


@pytest.fixture
def full(server_url, prefix):
    with redis.Redis.from_url(server_url) as client:
        house = World(client, prefix)
        house.say(*"abcdefgh")
        house.settle()
        client.config_set("maxmemory", 1)
        yield house
        client.config_set("maxmemory", 0)
        if left := list(client.scan_iter(f"{prefix}*")):
            client.unlink(*left)


def test_a_context_is_served_from_a_full_store(full):
    assert full.context().text


def test_a_full_store_can_be_cleared(full):
    assert full.om.clear("harold").outcome == "cleared"

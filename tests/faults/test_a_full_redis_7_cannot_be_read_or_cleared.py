"""Under maxmemory Redis 7.0 refuses every MULTI, so every read and `clear` would fail, and the error says "clear idle memories".

Valkey and newer servers let them pass.
"""

import pytest
from servers import BINARIES, Server
from world import World


@pytest.fixture(params=sorted(BINARIES))
def full(request, tmp_path):
    with Server(tmp_path, binary=BINARIES[request.param]) as own, own.client() as client:
        house = World(client, "cortex:om")
        house.say(*"abcdefgh")
        house.settle()
        client.config_set("maxmemory", 1)
        yield house


def test_a_context_is_served_from_a_full_store(full):
    assert full.context().text


def test_a_full_store_can_be_cleared(full):
    assert full.om.clear("harold").outcome == "cleared"

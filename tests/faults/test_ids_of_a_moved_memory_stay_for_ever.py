"""When to forget ids next stood in the record, and a move or an import made a new one: nobody ever looked again."""

import time

import pytest
from world import World

from om_api.domain.values import Scope
from om_api.store.memory import known


@pytest.fixture
def house(client, prefix):
    """A memory of one observation."""
    house = World(client, prefix)
    house.say("one", "two")
    house.om.force_observe("t-1", "harold")
    house.settle()
    return house


def _moved(house):
    house.om.migrate_scope("harold", "thread")
    return Scope("harold", "t-1")


def _imported(house):
    file = [*house.om.export_memory("harold")]
    house.om.clear("harold")
    house.om.import_memory(file)
    return Scope("harold")


@pytest.mark.parametrize("made_anew", [_moved, _imported])
def test_a_sweep_says_when_to_look_next(made_anew, house):
    scope = made_anew(house)
    house.sweep()

    tidy_at = house.client.hget(house.services.keys.of("harold").record(scope), "tidy_at")
    assert int(tidy_at or 0) > time.time() * 1000


def test_a_tidy_of_no_memory_writes_no_record(house):
    house.om.clear("harold")
    house.services.run(known.tidy(house.services.keys, Scope("harold"), ["t-1"], 0))

    assert house.client.exists(house.services.keys.of("harold").record(Scope("harold"))) == 0

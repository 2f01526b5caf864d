"""Run with OM_TEST_REDIS_URL pointing at Redis 7.0 (apt's redis-server): Lua's -0 becomes the argument "-0" there.

HINCRBY refuses "-0" after the first writes of activate, forget, reflect and clear_thread: the scripts stop half-way.
"""

import pytest
from world import World

from om_workers.llm.scripted import Scripted


@pytest.fixture
def house(client, prefix):
    return World(client, prefix)


def test_a_chunk_that_weighs_nothing_is_activated_whole(house):
    house.say("a", "b", tokens=0)
    house.om.force_observe("t-1", "harold")
    house.settle()
    assert house.om.record("harold").observation_count == len(house.om.observations("harold"))
    assert house.om.verify() == []


def test_an_empty_observation_is_forgotten_whole(client, prefix):
    house = World(client, prefix, model=Scripted(*["<observations>\n</observations>"] * 20))
    house.say("a", "b")
    house.om.force_observe("t-1", "harold")
    house.settle()
    (found,) = house.om.observations("harold")
    house.om.forget(found.id, "harold")
    assert house.om.record("harold").observation_count == 0


def test_a_reflection_of_empty_observations_is_committed_whole(client, prefix):
    replies = ["<observations>\n</observations>"] + ["<observations>\n* nothing yet\n</observations>"] * 5
    house = World(client, prefix, model=Scripted(*replies))
    house.say("a", "b")
    house.om.force_observe("t-1", "harold")
    house.settle()
    house.om.force_reflect("harold")
    house.settle()
    assert house.om.record("harold").observation_count == 0
    assert house.om.verify() == []


def test_a_thread_without_chunks_is_cleared_whole(house):
    house.say("a", "b")
    house.om.force_observe("t-1", "harold")
    house.settle()
    house.om.clear("harold", "t-1")
    assert house.om.record("harold").observation_count == 0
    assert house.om.verify() == []

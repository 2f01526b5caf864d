"""P10, composed memories: recall and contexts find what was said in any of them, and nothing of one that was not asked for."""

import pytest
from world import World

from om_api.domain.values import Scope


def say(world, resource, *texts):
    world.say(*texts, thread=f"of-{resource}", resource=resource)
    world.observe_now(f"of-{resource}", resource)


@pytest.fixture
def house(world):
    say(world, "harold", "my locker number is 77", "I like tea")
    say(world, "team-blue", "the locker of the pump is 4711", "the pump is made of brass")
    say(world, "org", "lockers are cleaned on Fridays")
    return world


def found(world, query="locker", **options):
    answer = world.om.recall(query, "harold", **options)
    return [(hit.resource_id, hit.text) for hit in answer.hits]


def test_recall_looks_in_all_of_them_and_says_whose_each_hit_is(house):
    assert found(house) == [("harold", "my locker number is 77")]
    assert found(house, also=["team-blue", "org"]) == [("harold", "my locker number is 77"),
        ("team-blue", "the locker of the pump is 4711"), ("org", "lockers are cleaned on Fridays")]  # fmt: skip
    seen, offset = [], 0
    while offset is not None:
        answer = house.om.recall("locker", "harold", also=["team-blue", "org"], limit=1, offset=offset)
        seen += [hit.resource_id for hit in answer.hits]
        offset = answer.next
    assert seen == ["harold", "team-blue", "org"]
    house.om.clear("team-blue")
    assert found(house, "4711", also=["team-blue"]) == []


def test_what_others_have_not_noted_does_not_stand_beside_what_is_recalled_either(house):
    noted = "the serial number of the turbine in the mill is 8842"
    say(house, "team-blue", "rain again", "the oil is fresh", noted)
    house.reflect_now("team-blue")
    house.say("the vault code is tulip", thread="of-team-blue", resource="team-blue")
    house.say("What is the serial number of the turbine in the mill?")
    context = house.context(also=["team-blue"])
    assert noted in [hit.text for hit in context.recalled]
    assert "tulip" not in context.text


def test_a_memory_that_cannot_be_read_is_left_out_and_shuts_out_no_other(house, client):
    """One writer of a composed memory can break its own keys: readers still get all other memories."""
    house.say("hello")
    name, also = house.services.keys.of("team-blue").observations(Scope("team-blue")), ["team-blue", "org"]
    client.rename(name, f"{name}:aside")
    for junk in (lambda: client.set(name, "junk"), lambda: client.zadd(name, {"junk": 1})):
        junk()
        found = house.om.recall("lockers", "harold", also=also, kinds=["message", "observation"])
        contexts = [house.context(also=also) for _ in range(2)]
        assert ["om verify" in each.left_out["team-blue"] for each in (found, *contexts)] == [True] * 3
        assert "cleaned on Fridays" in contexts[0].text
        assert "org" in {hit.resource_id for hit in found.hits}
        client.delete(name)
        house.om._core.composing._refused.pop("team-blue")
    client.rename(f"{name}:aside", name)


def test_a_memory_for_each_thread_is_not_looked_through(client, prefix):
    say(World(client, prefix, scope="thread"), "org", "lockers are cleaned on Fridays")
    world = World(client, prefix)
    world.say("hello")
    answer = world.om.recall("locker", "harold", also=["org"])
    assert not answer.hits
    assert "memory of its own" in answer.left_out["org"]

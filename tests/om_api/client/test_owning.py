"""What an owner may do: nothing is brought back into a memory that is read_only, and what is not there is said."""

import pytest
from world import World

from om_api import InvalidInputError, Outcome
from om_api.client.core import Core


@pytest.fixture
def world(client, prefix):
    return World(client, prefix)


def owner(world):
    return Core(world.settings, len).owning


@pytest.mark.parametrize(
    ("asked", "what"),
    [
        (lambda own: own.restore("harold", 0), "restored"),
        (lambda own: own.retry_rejected("harold", "entry"), "retried"),
        (lambda own: own._check_importable("harold"), "imported"),
    ],
)
def test_nothing_comes_back_into_a_memory_that_is_only_read(client, prefix, asked, what):
    world = World(client, prefix, read_only="true")

    with pytest.raises(InvalidInputError, match=f"harold is read_only: nothing of it is written, so nothing is {what}"):
        world.services.run(asked(owner(world)))


def test_an_observation_that_is_not_there_is_not_forgotten_silently(world):
    with pytest.raises(InvalidInputError, match="harold keeps no observation o-1: it expired, or it never was"):
        world.services.run(owner(world).forget("o-1", "harold"))


def test_an_observation_is_forgotten_with_its_messages(world):
    world.say(*[f"message {n}" for n in range(12)])
    world.settle()
    (observation, *_) = world.om.observations("harold")

    assert world.services.run(owner(world).forget(observation.id, "harold")) is Outcome.CLEARED
    assert observation.id not in {each.id for each in world.om.observations("harold")}
    assert world.om.sources(observation.id, "harold") == []


def test_a_generation_below_none_is_refused(world):
    with pytest.raises(InvalidInputError, match="-1 is no generation"):
        world.services.run(owner(world).restore("harold", -1))

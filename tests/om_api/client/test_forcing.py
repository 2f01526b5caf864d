"""What is forced is asked of every scope that has something to do, and of nobody else."""

import pytest
from world import World

from om_api.client.forcing import Forcing
from om_api.client.reading import Scopes
from om_api.client.reporting import Reporter
from om_api.domain.errors import StoreError
from om_api.store.driver.steps import Batch


@pytest.fixture
def world(client, prefix):
    return World(client, prefix)


@pytest.fixture
def forcing(world):
    keys = world.services.keys
    return Forcing(world.settings, keys, Scopes(world.settings, keys), Reporter(keys, world.services.clock))


@pytest.mark.parametrize(("scope", "due"), [("resource", {b"harold"}), ("thread", {b"harold|t-1", b"harold|t-2"})])
def test_who_is_resumed_is_due_to_be_observed_and_reflected(client, prefix, scope, due):
    world = World(client, prefix, scope=scope)
    world.say("hello", tokens=1_200)
    world.say("hello", thread="t-2")
    world.settle()
    world.om.pause("harold")
    client.delete(world.services.keys.due_observe, world.services.keys.due_reflect)
    world.om.resume("harold")

    assert set(client.zrange(world.services.keys.due_observe, 0, -1)) == due
    assert set(client.zrange(world.services.keys.due_reflect, 0, -1)) == due


def test_an_outage_after_the_request_says_that_it_stands(world, forcing):
    world.say("hello")
    steps = forcing.observe("harold", None, 1)
    step = next(steps)
    while not (isinstance(step, Batch) and any(command[0] == "ZADD" for command in step.commands)):
        step = steps.send(world.services.run(_once(step)))
    with pytest.raises(StoreError, match="The request stands") as told:
        steps.throw(StoreError("away", stored=False))

    assert told.value.stored is True


def _once(step):
    return (yield step)

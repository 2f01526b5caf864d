"""What is forced is asked of every scope that has something to do, and of nobody else."""

import pytest
from world import World


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

"""A task that comes after a clear lists the resource again; nothing ever takes it off, and every sweep tends it."""

from world import World


def test_a_late_task_lists_no_resource_that_is_gone(client, prefix):
    house = World(client, prefix)
    house.say("a")
    house.settle()
    house.om.clear("harold")
    house.perform("observe", "harold", "")
    assert house.om.stats() == []

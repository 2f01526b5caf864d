"""A client whose user may not touch events and counters works like any other, and repeats nothing for it."""

import pytest
import redis
from world import World

from om_api.client.memory import ObservationalMemory
from om_api.domain.events import Wanted
from om_api.domain.values import Scope
from om_api.store.fleet import event_stream, spending
from om_api.store.memory import due


@pytest.fixture
def world(private_server_url, prefix):
    """A house whose client may touch harold's keys, the due indexes and the bills, and no other key."""
    own = [f"~{prefix}:{{harold}}:*", f"~{prefix}:due:*", f"~{prefix}:spent:*", f"~{prefix}:resources"]
    agent = private_server_url.replace("://", "://agent:secret@")
    with redis.Redis.from_url(private_server_url) as client, redis.Redis.from_url(agent) as limited:
        client.execute_command("ACL", "SETUSER", "agent", "on", ">secret", "+@all", *own)
        house = World(client, prefix)
        house.om = ObservationalMemory(house.settings, client=limited)
        yield house


def test_it_activates_and_serves_and_nobody_is_told(world):
    world.say(*[f"message {n}" for n in range(8)])
    world.settle()
    world.say("and", "more")
    observations = world.services.keys.of("harold").observations(Scope("harold"))
    before = world.client.zcard(observations)

    assert world.context().blocks
    assert world.client.zcard(observations) > before == 0
    told = world.services.run(event_stream.since(world.services.keys, "0-0", Wanted(("activated",)), 100)).events
    assert [event.by for event in told] == []


def test_what_it_served_is_billed_once_though_it_can_be_counted_nowhere_else(world):
    world.say("hello")
    world.context()
    world.om.close()
    world.om.close()
    (spent,) = world.services.run(
        spending.read(world.services.keys, [spending.day_of(world.services.run(due.server_ms()))], "harold")
    )

    assert spent["served|contexts"] == 1

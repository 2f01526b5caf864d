"""A user can test an agent against fakeredis: the client and the workers' scripts run there as on a server."""

import fakeredis
import pytest
from stores import everlasting
from world import World


@pytest.fixture
def world(prefix):
    """A client and workers on a fake server, pinged first because a fake makes its database at its first connection."""
    with fakeredis.FakeRedis(server=fakeredis.FakeServer()) as fake:
        fake.ping()
        yield World(fake, prefix)


def test_fakeredis_messages_become_observations_and_a_reflection(world, prefix):
    ids = []
    for n in range(24):
        ids += world.say(f"parcel {n} lies in Oslo")
        world.tick()
        world.context()
    world.om.force_reflect("harold")
    world.settle()

    assert world.covering() == sorted(ids)
    assert len(world.om.generations("harold")) == 1
    assert world.om.verify() == []
    assert everlasting(world.client, prefix) == []


def test_fakeredis_finds_skips_and_removes_messages(world):
    history = [{"role": "user", "content": f"my locker has the number {n}"} for n in (14, 15)]
    for _ in range(2):
        world.om.sync(history, resource_id="harold", thread_id="t-1")
    assert [message.content for message in world.context().messages] == [each["content"] for each in history]
    assert next(hit.text for hit in world.om.recall("locker 15", "harold").hits) == history[1]["content"]

    exported = b"".join(world.om.export_memory("harold"))
    world.om.clear("harold")
    assert not world.context().messages
    assert not world.om.recall("locker 15", "harold").hits
    world.om.import_memory([exported], "harold")
    assert len(world.context().messages) == 2


def test_fakeredis_answers_other_tools_of_the_client(world):
    world.say("bad", "good")
    world.client.zadd(f"{world.prefix}:{{harold}}:messages:t-1", {b"no JSON": 1})
    world.client.zadd(f"{world.prefix}:adopt", {f"{world.prefix}:{{harold}}:messages:t-1": 0})
    world.sweep()
    assert [entry.kind for entry in world.om.rejected("harold")] == ["malformed"]

    world.om.set_thread("harold", "t-1", title="Parcels")
    assert [thread.title for thread in world.om.threads("harold")] == ["Parcels"]
    world.om.pause("harold")
    assert world.om.stats("harold").paused

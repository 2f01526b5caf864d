"""The audit trail through both faces of the library: added, read in pages, followed across an outage."""

import threading

import pytest
import redis
from driven import Driven
from world import World

from om_api.client.memory import ObservationalMemory
from om_api.domain.audit.audit_entry import AuditEntry
from om_api.domain.errors import InvalidInputError, StoreError


@pytest.fixture(params=[ObservationalMemory, Driven], ids=["blocking", "asyncio"])
def world(request, private_server_url, prefix):
    """A house whose client is one face or the other, on a real server of its own: connections are cut."""

    class House(World):
        face = request.param

    with redis.Redis.from_url(private_server_url) as client:
        house = House(client, prefix)
        yield house
        house.om.close()
    Driven.close_all()


def add(world, **said):
    return world.om.add_audit(AuditEntry(**{"did": "read", "via": "page", "who": "anna", "resource": "harold", **said}))


def test_what_a_door_of_ones_own_adds_is_read_with_all_else(world):
    for n in range(3):
        add(world, of=str(n))
    add(world, did="cleared", resource="ada")
    first = world.om.audit(count=2)

    assert [(each.did, each.of) for each in first.entries] == [("cleared", ""), ("read", "2")]
    assert [each.of for each in world.om.audit(first.before).entries] == ["1", "0"]
    assert [each.resource for each in world.om.audit(resource_id="ada").entries] == ["ada"]
    assert [each.did for each in world.om.audit(did=["cleared"], who="anna").entries] == ["cleared"]
    assert world.om.audit(since=first.entries[0].at + 1_000).entries == []


@pytest.mark.parametrize("asked", [{"count": 0}, {"count": 1_001}, {"before": "yesterday"}, {"did": "stole"}])
def test_what_cannot_be_asked_is_refused(world, asked):
    with pytest.raises(InvalidInputError):
        world.om.audit(**asked)


def test_what_comes_is_followed_across_an_outage_and_what_came_before_is_not(world):
    add(world, of="before")
    following = world.om.follow_audit(resource_id="harold")
    got = []
    reading = threading.Thread(target=lambda: got.extend(next(following) for _ in range(2)), daemon=True)
    reading.start()
    world.wait_for = threading.Event()
    world.wait_for.wait(0.3)
    add(world, of="first")
    add(world, of="another's", resource="ada")
    world.client.client_kill_filter(_type="normal", skipme=True)
    add(world, of="second")
    reading.join(10)

    assert [each.of for each in got] == ["first", "second"]


def test_an_entry_that_is_not_taken_is_said(world, private_server_url):
    world.client.set(world.services.keys.audit, "no stream")
    try:
        with pytest.raises(StoreError):
            add(world)
    finally:
        world.client.delete(world.services.keys.audit)

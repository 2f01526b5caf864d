"""Events and the audit trail: pages, waits, and following across an outage. By the asyncio client, of which the other is made."""

import itertools
import threading

import pytest
import redis
from driven import Driven
from world import World, wait_until

from om_api import ObservationalMemory, load_settings
from om_api.client import watching
from om_api.domain.audit.audit_entry import AuditEntry
from om_api.domain.errors import InvalidInputError
from om_api.domain.events import Event
from om_api.store.driver.connection import open_client
from om_api.store.fleet import event_stream


class AsyncWorld(World):
    face = Driven


@pytest.fixture
def world(client, prefix):
    yield AsyncWorld(client, prefix)
    Driven.close_all()


@pytest.fixture
def lonely(private_server_url, prefix):
    """The same on a server of its own: connections are cut."""
    with redis.Redis.from_url(private_server_url) as client:
        yield AsyncWorld(client, prefix)
    Driven.close_all()


def publish(world, *kinds, resource="harold"):
    told = [Event(kind=kind, resource=resource) for kind in kinds]
    world.services.run(event_stream.publish(world.services.keys, told, None, 0))


def later(work):
    timer = threading.Timer(0.2, work)
    timer.start()
    return timer


def kinds(told):
    return [event.kind for event in told]


def told_of(following, last, told):
    """Take what is followed, in a thread of its own, until the last that is expected."""

    def take():
        for each in following:
            told.append(each)
            if last(each):
                return

    thread = threading.Thread(target=take, daemon=True)
    thread.start()
    return thread


def test_events_are_paged_filtered_and_waited_for(world):
    publish(world, "sealed", "buffered", "activated")
    first = world.om.events("0", count=2)
    assert kinds(first.events) == ["sealed", "buffered"]
    assert kinds(world.om.events(first.after).events) == kinds(world.om.events(count=1).events) == ["activated"]

    publish(world, "failed")
    publish(world, "sealed", resource="albert")
    assert kinds(world.om.events(kinds="failed").events) == ["failed"]
    assert kinds(world.om.events(kinds=["failed", "sealed"], resource_id="albert").events) == ["sealed"]
    assert len(world.om.events(resource_id=["harold", "albert"]).events) == 5

    begun = world.om.events()
    in_vain = world.om.events(begun.after, wait=0.1)
    assert (in_vain.events, in_vain.after) == ([], begun.after)
    timer = later(lambda: publish(world, "paused"))
    assert kinds(world.om.events(begun.after, wait=20).events) == ["paused"]
    timer.join()

    wrong = ({"after": "x"}, {"kinds": "seald"}, {"resource_id": "x" * 201}, {"count": 0}, {"count": 1_001})
    for asked in wrong:
        with pytest.raises(InvalidInputError):
            world.om.events(**asked)


def test_follow_tells_what_comes_from_now_on_or_behind_the_last_event_seen(world):
    publish(world, "cleared")
    told = []
    taking = told_of(world.om.follow(kinds=["sealed", "buffered"]), lambda event: event.kind == "buffered", told)
    wait_until(lambda: publish(world, "sealed") or told, "an event")
    publish(world, "failed", "buffered")
    taking.join(20)
    assert {*kinds(told)} == {"sealed", "buffered"}

    again = world.om.follow(told[-2].id)
    assert kinds(itertools.islice(again, 2)) == ["failed", "buffered"]
    again.close()


def test_follow_survives_a_lost_connection_and_a_store_that_answers_nothing(lonely, monkeypatch):
    """Time 0: it waits. Time 1: every connection is cut, or every try refused. Time 2: something happens, and is told."""
    world = lonely
    monkeypatch.setattr(watching, "_FOLLOW_S", 0.1)

    def cut():
        world.client.client_kill_filter(_type="normal", skipme=True)
        publish(world, "sealed")

    def refuse():
        world.client.execute_command("ACL", "SETUSER", "default", "-xrange")
        wait_until(lambda: world.client.execute_command("ACL", "LOG"), "a refusal")
        publish(world, "sealed")
        world.client.execute_command("ACL", "SETUSER", "default", "+xrange")

    for outage in (cut, refuse):
        publish(world, "cleared")
        following = world.om.follow(world.om.events().after)
        timer = later(outage)
        assert kinds(itertools.islice(following, 1)) == ["sealed"], outage
        timer.join()
        following.close()


def test_follow_ends_when_the_client_is_closed(world):
    following, found = world.om.follow(), []
    thread = threading.Thread(target=lambda: found.extend(following))
    thread.start()
    wait_until(lambda: publish(world, "sealed") or found, "an event")
    world.om.close()
    thread.join(20)

    assert not thread.is_alive()


def test_a_wait_is_shorter_than_what_a_client_waits_for_any_reply(server_url, prefix):
    """Catches a wait that the client itself would end with a timeout: every quiet second would be an outage."""
    settings = load_settings(None, {"OM_REDIS_URL": server_url, "OM_PREFIX": prefix})
    with Driven(settings, timeout=0.4, client=open_client(server_url, 0.4)) as om:
        assert om.events(wait=0.6).events == []


def add(world, **said):
    return world.om.add_audit(AuditEntry(**{"did": "read", "via": "page", "who": "anna", "resource": "harold", **said}))


def test_follow_audit_goes_on_across_an_outage_and_leaves_out_what_came_before(lonely):
    world, told = lonely, []
    add(world, of="before")
    taking = told_of(world.om.follow_audit(resource_id="harold"), lambda entry: entry.of == "last", told)
    wait_until(lambda: add(world, of="first") and told, "an entry")
    add(world, of="another's", resource="ada")
    world.client.client_kill_filter(_type="normal", skipme=True)
    add(world, of="last")
    taking.join(20)

    assert {each.of for each in told} == {"first", "last"}


def test_blocking_client_follows_events_as_long_as_it_is_open(client, prefix):
    world = World(client, prefix)
    world.say("hello")
    with ObservationalMemory(world.settings, client=client) as om:
        following = om.follow("0", kinds=["paused", "cleared"])
        om.pause("harold")
        om.clear("harold")
        assert [next(following).kind, next(following).kind] == ["paused", "cleared"]
    assert list(following) == []

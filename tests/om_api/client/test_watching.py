"""Events through both faces of the library: a page, a wait, and following across an outage."""

import itertools
import threading

import pytest
import redis
from driven import Driven
from world import World, wait_until

from om_api import load_settings
from om_api.client.memory import ObservationalMemory
from om_api.domain.errors import InvalidInputError, StoreError
from om_api.domain.events import GAP, Event
from om_api.store.driver.connection import open_client
from om_api.store.fleet import event_stream


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


def publish(world, *kinds, resource="harold"):
    told = [Event(kind=kind, resource=resource) for kind in kinds]
    world.services.run(event_stream.publish(world.services.keys, told, None, 0))


def test_a_name_that_is_no_text_hides_no_other(world):
    world.say("hello")
    world.tick()
    world.client.zadd(world.services.keys.resources, {b"\xff": 1})

    assert world.om.resources() == ["harold", "\ufffd"]
    overview = world.om.overview()
    assert ([stats.resource for stats in overview.stats], overview.broken) == (["harold"], ["\ufffd"])
    assert world.om.quarantines().broken == []


def later(work, seconds=0.2):
    timer = threading.Timer(seconds, work)
    timer.start()
    return timer


def kinds(told):
    return [event.kind for event in told]


def test_a_page_of_events_says_where_to_go_on(world):
    publish(world, "sealed", "buffered", "activated")
    first = world.om.events("0", count=2)

    assert kinds(first.events) == ["sealed", "buffered"]
    assert kinds(world.om.events(first.after).events) == ["activated"]
    assert kinds(world.om.events(count=1).events) == ["activated"]


def test_events_are_asked_for_by_kind_and_resource_one_or_several(world):
    publish(world, "sealed", "failed")
    publish(world, "sealed", resource="albert")

    assert kinds(world.om.events(kinds="failed").events) == ["failed"]
    assert kinds(world.om.events(kinds=["failed", "sealed"], resource_id="albert").events) == ["sealed"]
    assert len(world.om.events(resource_id=["harold", "albert"]).events) == 3


def test_what_comes_is_waited_for(world):
    begun = world.om.events()
    timer = later(lambda: publish(world, "sealed"))
    found = world.om.events(begun.after, wait=20)
    timer.join()

    assert kinds(found.events) == ["sealed"]


def test_a_wait_in_vain_ends_and_reading_goes_on_there(world):
    publish(world, "sealed")
    found = world.om.events(world.om.events().after, wait=0.1)

    assert (found.events, found.after) == ([], world.om.events().after)


@pytest.mark.parametrize(
    "asked", [{"after": "x"}, {"kinds": "seald"}, {"resource_id": "a b"}, {"count": 0}, {"count": 1_001}]
)
def test_what_cannot_be_asked_for_is_refused(world, asked):
    with pytest.raises(InvalidInputError):
        world.om.events(**asked)


def test_who_follows_is_told_of_everything_from_now_on(world):
    publish(world, "cleared")
    following = world.om.follow(kinds=["sealed", "buffered"])
    timer = later(lambda: publish(world, "sealed", "failed", "buffered"))
    found = kinds(itertools.islice(following, 2))
    timer.join()
    following.close()

    assert found == ["sealed", "buffered"]


def test_who_follows_again_goes_on_behind_the_last_event_seen(world):
    publish(world, "sealed", "buffered", "activated")
    with_first = world.om.follow("0")
    seen = next(with_first)
    with_first.close()
    again = world.om.follow(seen.id)

    assert kinds(itertools.islice(again, 2)) == ["buffered", "activated"]
    again.close()


def test_who_follows_from_what_is_no_longer_kept_is_told_so_first(world):
    publish(world, "cleared")
    seen = world.om.events().events[-1].id
    publish(world, "sealed", "buffered")
    world.client.xtrim(world.services.keys.events, maxlen=1, approximate=False)
    following = world.om.follow(seen)

    assert kinds(itertools.islice(following, 2)) == [GAP, "buffered"]
    following.close()


def test_who_follows_survives_a_lost_connection(world):
    """Time 0: it waits. Time 1: every connection is cut. Time 2: something happens, and is told."""
    following = world.om.follow()

    def cut_then_publish():
        world.client.client_kill_filter(_type="normal", skipme=True)
        publish(world, "sealed")

    timer = later(cut_then_publish)
    found = kinds(itertools.islice(following, 1))
    timer.join()
    following.close()

    assert found == ["sealed"]


def test_who_follows_waits_for_a_store_that_answers_nothing(world):
    """Time 0: it waits. Time 1: every try is refused. Time 2: something happens. Time 3: the store answers again."""
    following = world.om.follow()

    def refuse_then_publish():
        world.client.execute_command("ACL", "SETUSER", "default", "-xrange")
        wait_until(lambda: world.client.execute_command("ACL", "LOG"), "a refusal")
        publish(world, "sealed")
        world.client.execute_command("ACL", "SETUSER", "default", "+xrange")

    timer = later(refuse_then_publish)
    found = kinds(itertools.islice(following, 1))
    timer.join()
    following.close()

    assert found == ["sealed"]


def test_who_follows_is_done_when_the_client_is_closed(world):
    following, found = world.om.follow(), []
    thread = threading.Thread(target=lambda: found.extend(following))
    thread.start()
    wait_until(lambda: publish(world, "sealed") or found, "an event")
    world.om.close()
    thread.join(20)

    assert not thread.is_alive()


def test_a_store_that_was_never_there_is_said_at_once(prefix):
    settings = load_settings(None, {"OM_REDIS_URL": "redis://127.0.0.1:1/0", "OM_PREFIX": prefix})
    with ObservationalMemory(settings, timeout=0.2) as om, pytest.raises(StoreError):
        next(iter(om.follow()))


def test_a_wait_is_shorter_than_what_a_client_waits_for_any_reply(server_url, prefix):
    """Catches a wait that the client itself would end with a timeout: every quiet second would be an outage."""
    settings = load_settings(None, {"OM_REDIS_URL": server_url, "OM_PREFIX": prefix})
    with ObservationalMemory(settings, timeout=0.4, client=open_client(server_url, 0.4)) as om:
        assert om.events(wait=0.6).events == []

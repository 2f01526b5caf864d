"""What workers tell: each thing that happened, once, with what its kind carries, and its counters."""

from __future__ import annotations

from world import World

from om_api.events import KINDS, Wanted
from om_api.store import events
from om_api.store.events import BEGINNING
from om_api.values import Outcome
from om_workers.llm.scripted import Scripted

ALWAYS = {"kind", "id", "at", "resource"}


def told(world, *kinds):
    return world.shop.run(events.since(world.shop.keys, BEGINNING, Wanted(kinds), 10_000)).events


def counted(world, resource="harold"):
    (found,) = world.shop.run(events.counted(world.shop.keys, [resource]))
    return found


def carried(event):
    return {name for name in event.__struct_fields__ if getattr(event, name) is not None} - ALWAYS


def say(world, n, **fields):
    world.say(*[f"message {i}" for i in range(n)], **fields)
    world.settle()


def test_a_conversation_is_told_from_sealed_to_activated(world):
    say(world, 2)
    say(world, 9)

    kinds = [event.kind for event in told(world)]
    assert kinds[:3] == ["sealed", "observing", "buffered"]
    assert "activated" in kinds
    assert {event.resource for event in told(world)} == {"harold"}


def test_every_event_carries_what_its_kind_does_and_nothing_else(client, prefix):
    world = World(client, prefix, observation_threshold="300")
    for _ in range(30):
        say(world, 2)
        world.context()
    seen = {event.kind: carried(event) for event in told(world)}

    assert {"sealed", "observing", "buffered", "activated", "reflecting", "reflected"} <= set(seen)
    assert {kind: names - set(KINDS[kind]) for kind, names in seen.items()} == {kind: set() for kind in seen}


def test_one_observation_stored_is_one_counted(world):
    say(world, 30)
    (n,) = world.shop.run(events.counted(world.shop.keys, [None]))

    assert counted(world)["observations"] == len(told(world, "buffered")) > 3
    assert n == counted(world)


def test_a_result_that_comes_too_late_is_told_and_counted_by_nobody(world):
    """Time 0: a worker asks. Time 1: it lost its lock, another one asks and stores. Time 2: the first one's answer comes."""

    def overtaken(_request):
        world.client.delete(*world.client.keys(f"{world.prefix}:{{harold}}:lock:chunk:*"))
        world.model = Scripted.echo()
        world.perform("observe_chunk", *ids)
        return "<observations>\n* late\n</observations>"

    world.say("one", "two")
    world.claim()
    world.perform("observe", *world.dispatch.queue.popleft()[1])
    ids, world.model = world.dispatch.queue.popleft()[1], Scripted(overtaken)

    assert world.perform("observe_chunk", *ids) is Outcome.SUPERSEDED
    assert len(told(world, "buffered")) == counted(world)["observations"] == 1

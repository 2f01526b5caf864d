"""Settings that changed while nobody worked reach every memory, once, whoever dies on the way."""

import time

import pytest
from world import World

from om_api.store.memory import due
from om_workers.work import rollout as module
from om_workers.work.rollout import Rollout


def _due(world, index="observe"):
    return {name.decode() for name in world.client.zrange(f"{world.prefix}:due:{index}", 0, -1)}


def _started(world, later=0.0):
    """A process that starts with the settings of a world, now or so many seconds later."""
    since = time.monotonic() + later
    return Rollout(world.services, lambda: since)


def _told(world):
    """How many memories a process has looked at again that starts when no other one does."""
    return _started(world, later=1.0).advance(60)


def test_a_memory_that_waits_below_the_old_threshold_is_observed_under_the_new_one(client, prefix):
    """Catches 1,440 tokens that waited against a threshold of 1,000 for ever: nothing was ever sealed of them."""
    before = World(client, prefix, message_threshold="30000", observe_idle_after="36500d")
    before.say(*[f"message {n}" for n in range(12)], tokens=120)
    before.settle()
    after = World(client, prefix, message_threshold="1000", observe_idle_after="36500d")
    after.settle()
    assert after.om.stats("harold").message_tokens == 1440
    assert _told(after) == 1
    after.settle()
    assert after.om.stats("harold").observations > 0
    assert after.om.stats("harold").message_tokens < 1000


def test_observations_above_the_new_threshold_are_handed_to_the_reflector(client, prefix):
    before = World(client, prefix, observation_threshold="100000")
    before.say(*[f"message {n} " + "x" * 2000 for n in range(30)], tokens=400)
    before.om.force_observe("t-1", "harold")
    before.settle()
    assert _due(before, "reflect") == set()
    after = World(client, prefix, observation_threshold="200")
    assert _told(after) == 1
    assert _due(after, "reflect") == {"harold"}


def _many(client, prefix, number=45):
    before = World(client, prefix, message_threshold="30000")
    for n in range(number):
        before.say("hello", resource=f"agent-{n}")
    before.settle()
    client.delete(f"{prefix}:due:observe")
    return {f"agent-{n}" for n in range(number)}


@pytest.fixture
def small(monkeypatch):
    def slices(keys, _part, cursor, n):
        names = yield from module.keyspace_scan.oldest_looked(keys, "+inf", -1)
        some = sorted(names)[cursor : cursor + 20]
        return (cursor + 20 if cursor + 20 < len(names) else 0), some

    monkeypatch.setattr(module.keyspace_scan, "some_resources", slices)


def test_a_tick_takes_a_slice_and_the_next_one_goes_on_whoever_it_is(client, prefix, small):
    """Catches a tick that looks at a million memories before it hands anything out, and one that begins anew."""
    names, world = _many(client, prefix), World(client, prefix)
    workers = [_started(world) for _ in range(3)]
    assert [worker.advance(0) for worker in workers] == [20, 20, 5]
    assert _due(world) == names
    assert [worker.advance(60) for worker in workers] == [0, 0, 0]


def test_a_worker_that_dies_in_the_middle_leaves_the_rest_to_the_next(client, prefix, small, monkeypatch):
    names, world = _many(client, prefix), World(client, prefix)
    first, next_ = _started(world), _started(world)
    mark = due.mark

    def killed(index, scopes, **words):
        yield from mark(index, scopes, **words)
        if len(_due(world)) == 30:
            raise KeyboardInterrupt

    monkeypatch.setattr(due, "mark", killed)
    with pytest.raises(KeyboardInterrupt):
        first.advance(60)
    monkeypatch.undo()
    next_.advance(60)
    assert _due(world) == names


def test_workers_that_start_together_walk_once_and_one_that_starts_later_walks_again(client, prefix, monkeypatch):
    """Catches a fleet of which each does it all; and a worker that replaced one of other settings, after the walk was done."""
    _many(client, prefix, 3)
    world, asked = World(client, prefix), []
    recorded = module.keyspace_scan.recorded
    monkeypatch.setattr(
        module.keyspace_scan, "recorded", lambda keys, names: asked.append(len(names)) or recorded(keys, names)
    )
    fleet = [_started(world) for _ in range(5)]
    for _ in range(3):
        for worker in fleet:
            worker.advance(60)
    assert asked == [3]
    _started(world, later=1.0).advance(60)
    assert asked == [3, 3]


def test_what_an_agent_may_only_read_is_left_alone(client, prefix):
    before = World(client, prefix, message_threshold="30000")
    before.say("hello")
    before.settle()
    assert _told(World(client, prefix, read_only="true")) == 0


def _applied(world):
    world.client.delete(f"{world.prefix}:due:observe")
    return _told(world), _due(world)


@pytest.mark.parametrize("why", ["nothing changed", "nothing waits"])
def test_settings_are_made_known_to_those_alone_whom_they_change(client, prefix, why):
    """Catches a change that wakes every memory there is: a million idle agents would be looked at at once."""
    world = World(client, prefix)
    world.say("one", "two", "three")
    world.settle()
    if why == "nothing waits":
        world.om.force_observe("t-1", "harold")
        world.settle()
        world = World(client, prefix, message_threshold="400")
    assert _applied(world) == (0, set())


def test_changed_settings_reach_who_comes_after_an_agent_whose_record_holds_what_is_not_ours(world):
    """Catches an observer's tick that ends there, before it has dispatched anything, and never comes back to the others."""
    for name in ("albert", "zoe"):
        world.say("x", resource=name)
    world.settle()
    world.client.hset(f"{world.prefix}:{{albert}}:record", "generation", "x")
    world.client.hset(f"{world.prefix}:{{zoe}}:record", mapping={"epoch": "e", "limits": "{}"})
    world.client.zadd(f"{world.prefix}:resources", {"albert": 1, "zoe": 2})
    assert _told(world) == 1

"""Reading lists and statistics, and forcing work."""

import pytest
from world import World

from om_api.domain.values import Scope, new_id
from om_api.store.memory import scope_state, seal


def test_a_thread_tells_of_its_last_message_before_any_worker_looked(world):
    """Catches a last message of days ago in a thread that has gone on: the index of threads is the workers' to keep."""
    world.say("one", timestamp="2025-11-20T09:30:00Z")
    world.settle()
    world.say("two", timestamp="2025-11-21T09:30:00Z")
    assert [thread.at for thread in world.om.threads("harold")] == [1_763_717_400_000]
    before = world.om.ping()
    world.say("three", timestamp="2099-01-01")
    assert before <= world.om.threads("harold")[0].at <= world.om.ping()


HOUR_S = 3_600


def marked(world, seconds, looked=None):
    """Harold is due since so many seconds; somebody looked at him so many seconds ago."""
    now = world.om.ping()
    world.client.zadd(f"{world.prefix}:due:observe", {"harold": now - seconds * 1000})
    if looked is not None:
        world.client.zadd(f"{world.prefix}:resources", {"harold": now - looked * 1000})
    return world.om.stats("harold").lag


def test_lag_is_the_time_since_the_oldest_work_became_due(world):
    """Catches an alert at every urgent context: its entry is written an hour before its time, so as to come first."""
    world.say("hello")
    world.settle()
    assert world.om.stats("harold").lag == 0
    assert 100 <= marked(world, 100) < 110
    assert marked(world, -100) == 0
    assert 5 <= marked(world, HOUR_S + 5, looked=60) < 15
    assert 2 * HOUR_S <= marked(world, 2 * HOUR_S, looked=3 * HOUR_S) < 2 * HOUR_S + 10


@pytest.mark.parametrize("paused", [False, True])
def test_a_chunk_that_waits_to_be_observed_lags_since_it_was_sealed(world, paused):
    world.say("hello")
    ((member, _),) = world.services.run(scope_state.raw_messages(world.services.keys, "harold", ["t-1"]))["t-1"]
    chunk = new_id(world.om.ping() - 60_000)
    world.services.run(seal.seal(world.services.keys, Scope("harold"), "", "t-1", [member], 100, chunk))
    world.client.delete(f"{world.prefix}:due:observe")
    if paused:
        world.om.pause("harold")

    assert (60 <= world.om.stats("harold").lag < 70) is not paused


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

"""Work whose worker, task or client died is found again by ticks and the sweep, a lease later; real processes: tests/e2e."""

import pytest
from world import World

from om_api.domain.values import Outcome, Scope
from om_api.store.memory import due, note, reflect, requests, scope_state
from om_api.store.memory.keys import queued

HAROLD = Scope("harold")
HOUR = 3_600_000


def a_lease_later(world):
    """What thirty seconds without a heartbeat do: locks are gone, what was on lease is due again."""
    for key in world.client.scan_iter(f"{world.prefix}:*lock:*", count=1000):
        world.client.delete(key)
    now = world.services.run(due.server_ms())
    for index in (world.services.keys.due_observe, world.services.keys.due_reflect):
        world.client.delete(queued(index))
        for name, score in world.client.zrange(index, 0, -1, withscores=True):
            if score <= now + due.LEASE_MS + 1:
                world.client.zadd(index, {name: now})


def begun(world, *texts):
    """Harold's first chunk, sealed and passed on; the task that has it observed."""
    ids = world.say(*(texts or [f"message {n}" for n in range(4)]))
    world.claim()
    while world.dispatch.queue[0][0] != "observe_chunk":
        world.perform(*world.next_task())
    return ids, world.dispatch.queue.popleft()


@pytest.mark.parametrize("lost", ["observe", "observe_chunk"])
def test_a_task_that_the_broker_lost_is_sent_again_a_lease_later(world, lost):
    """Breaks when a tick takes what it passes on off the index."""
    ids = world.say(*[f"message {n}" for n in range(4)])
    world.claim()
    while lost not in {verb for verb, _ in world.dispatch.queue}:
        world.perform(*world.next_task())
    world.dispatch.queue.clear()
    assert world.tick() == []
    a_lease_later(world)
    world.settle()
    assert [chunk.ready for chunk in _look(world).chunks] == [True] * len(_look(world).chunks)
    assert world.model.requests
    assert world.covering() == sorted(ids)


@pytest.fixture
def reflecting(client, prefix):
    """A memory whose observations are due to be reflected, and whose newest messages are raw; all that was said."""
    world = World(client, prefix, observation_threshold="300", reflection__block_after="50")
    keys, said = world.services.keys, []
    while not client.zscore(keys.due_reflect, "harold"):
        said += world.say(*[f"message {len(said) + n} with some words in it" for n in range(2)])
        for claim in world.services.run(due.claim(keys.due_observe, 100)):
            world.dispatch.observe(claim.scope, claim.lease)
        world.work()
    said += world.say("the newest")
    return world, said


@pytest.mark.parametrize("lost", ["note", "mark", "draft", "reflect"])
def test_a_reflection_left_half_done_is_gone_on_with(reflecting, monkeypatch, lost):
    """A worker dies between two commands: after what it drained was sealed, after that was noted, or at the commit. Breaks when a
    drain that was begun is not marked due again by whoever finds it."""
    world, said = reflecting
    place = {"note": note, "mark": due, "draft": reflect, "reflect": reflect}[lost]
    with monkeypatch.context() as killed:
        killed.setattr(place, lost, _killed)
        for _ in range(20):
            try:
                world.tick()
            except _KilledError:
                break
            a_lease_later(world)
            said += world.say("and one more, with some words in it")
        else:
            pytest.fail("the worker was never killed")
    world.dispatch.queue.clear()
    a_lease_later(world)
    _until_reflected(world, said)
    assert world.covering() == sorted(said)


class _KilledError(Exception):
    pass


def _killed(*_, **__):
    raise _KilledError


def _until_reflected(world, said):
    """Talk on, as an agent would, until a generation is there; what was said is added to `said`."""
    for _ in range(30):
        world.settle()
        if world.om.generations("harold"):
            return
        said += world.say("and something more, with some words in it")
        a_lease_later(world)
    pytest.fail("nothing was reflected")


def _look(world):
    return world.services.run(scope_state.look(world.services.keys, HAROLD))


def unlisted(world):
    world.client.zrem(world.services.keys.due_observe, "harold")
    world.client.zadd(world.services.keys.resources, {"harold": 0})


def just_looked_at(world):
    world.client.zrem(world.services.keys.due_observe, "harold")


def at_idle_deadline(world):
    now = world.services.run(due.server_ms())
    world.client.zadd(world.services.keys.due_observe, {"harold": now + HOUR})
    world.client.zadd(world.services.keys.resources, {"harold": 0})


@pytest.mark.parametrize("forget", [unlisted, just_looked_at, at_idle_deadline])
def test_a_chunk_that_was_sealed_and_forgotten_is_marked_by_the_sweep(world, forget):
    """Breaks when the sweep looks at raw messages only, when being in the index, however far ahead, counts as being looked after,
    and when a look within the last 50 s hides a scope from the sweep."""
    ids, _ = begun(world)
    forget(world)
    assert world.tick() == []
    assert world.sweep().marked == 1
    assert Outcome.BUFFERED in world.tick()
    assert world.covering() == sorted(ids)


@pytest.mark.parametrize("forget", [unlisted, at_idle_deadline])
def test_a_request_of_a_client_that_died_before_it_was_marked_is_found_by_the_sweep(client, prefix, forget):
    """Breaks when the sweep looks at counters only: what is raw here waits for nothing."""
    world = World(client, prefix, min_recent_messages="2")
    ids = world.say("only this")
    world.settle()
    world.services.run(requests.force(world.services.keys, HAROLD, "force"))
    forget(world)
    world.sweep()
    world.settle()
    assert (world.context().messages, world.covering()) == ([], ids)

"""No decision depends on clocks agreeing: clients and workers whose clocks are hours off, or jump, do what others do."""

import time
from datetime import timedelta

import pytest
from world import World, wait_until

from om_api import Message
from om_api.store.memory import due
from om_workers import app

HOURS = (0.0, 2.0, -2.0, 24 * 30.0)
_right = time.time


@pytest.fixture
def shift(monkeypatch):
    return lambda hours: monkeypatch.setattr(time, "time", lambda: _right() + hours * 3_600)


def said(name="m-1", text="hello"):
    return Message(role="user", content=text, id=name, thread_id="t-1", resource_id="harold", tokens=100)


def test_an_id_is_accepted_once_by_clients_whose_clocks_disagree_or_jump(client, prefix, shift):
    """Breaks when what is known of an id depends on a client's clock, or on an offset that is trusted for ever."""
    for first in HOURS:
        name = f"m{first:g}"
        shift(first)
        assert World(client, prefix).om.add_message(said(name)).added == 1
        for second in HOURS:
            shift(second)
            again = World(client, prefix).om.add_message(said(name))
            assert (again.added, again.duplicates) == (0, (name,)), (first, second)
    world, added = World(client, prefix), []
    for n, hours in enumerate((0.0, 5.0, -5.0, 0.0, 24 * 400.0)):
        shift(hours)
        added += [world.om.add_message(said(f"j-{n}")).added, world.om.add_message(said(f"j-{n}", "again")).added]
    assert added == [1, 0] * 5


@pytest.mark.parametrize("hours", [-2.0, 24 * 30.0])
def test_workers_with_a_wrong_clock_adopt_claim_and_observe_as_others_do(client, prefix, shift, hours):
    """Breaks when a lease, a deadline or an adoption is reckoned by a worker's clock."""
    world = World(client, prefix)
    ids = world.say(*[f"message {n}" for n in range(6)])
    key = f"{prefix}:{{harold}}:messages:t-1"
    client.zadd(key, {'{"id":"plain","role":"user","content":"hi","tokens":100}': 17636e8})
    client.zadd(f"{prefix}:adopt", {key: 0})
    shift(hours)
    world.sweep()
    world.settle()
    assert world.om.observations("harold") or world.om.stats("harold").ready_chunks
    assert world.covering() == sorted([*ids, "plain"])
    assert world.om.verify() == []
    now = world.services.run(due.server_ms())
    leases = [score - now for _, score in client.zrange(world.services.keys.due_observe, 0, -1, withscores=True)]
    assert all(lease <= 3_600_000 for lease in leases)


def test_a_beat_whose_clock_is_put_back_goes_on_sending(monkeypatch):
    """Breaks when the schedule is reckoned by the wall clock: nothing would be sent for the hours it was put back by."""
    schedule = app.app.conf.beat_schedule  # a worker whose clock is ahead would drop every tick that expires sooner
    assert min(each["options"]["expires"] for each in schedule.values()) >= 86_400
    entry = schedule["om.observer_tick"]["schedule"]
    sent = entry.now()
    monkeypatch.setattr(app.app, "now", lambda: sent - timedelta(hours=2))
    assert not entry.is_due(sent).is_due
    passed = time.monotonic() + entry.seconds
    monkeypatch.setattr(time, "monotonic", lambda: passed)
    assert entry.is_due(sent).is_due


def test_a_worker_whose_clock_is_ahead_clears_no_memory_and_hides_none_from_other_sweeps(client, prefix, shift):
    """Breaks when ttl_days are reckoned by the clock of a worker that never pushed or adopted: it knows no offset."""
    world = World(client, prefix, ttl_days="1")
    world.say(*"abcdefghijkl")
    world.settle()
    world.sweep()
    before = world.covering()
    client.zadd(world.services.keys.resources, {"harold": 1})
    another = World(client, prefix, ttl_days="1")
    shift(48)
    assert another.sweep().cleared == 0
    assert world.covering() == before
    assert client.zscore(world.services.keys.resources, "harold") <= _right() * 1000 + 1_000


def test_a_thread_dated_ahead_is_observed_when_idle_like_any_other(client, prefix):
    """Breaks when its last message, dated ahead by a client's clock, is heard of anew at every look."""
    world = World(client, prefix, observe_idle_after="1s")
    world.say("a", tokens=50, timestamp=time.time() + 5 * 3_600)
    world.say("b", tokens=50, thread="t-2")

    def observed():
        for name in client.zrange(world.services.keys.due_observe, 0, -1):
            client.zadd(world.services.keys.due_observe, {name: 1})
        world.tick()
        return not any(client.zcard(f"{prefix}:{{harold}}:messages:{thread}") for thread in ("t-1", "t-2"))

    wait_until(observed, "both threads to be observed", 10)

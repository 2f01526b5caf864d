"""No decision depends on clocks agreeing: clients and workers whose clocks are hours off, or jump, seal, dedupe and observe."""

import time
from datetime import timedelta

import pytest
import redis
from world import World

from om_api import Message
from om_api.store.memory import due
from om_workers import app

HOURS = (0.0, 2.0, -2.0, 24 * 30.0)
_right = time.time


@pytest.fixture
def client(server_url, prefix):  # fakeredis tells the client's time, wrong as it is: a real server only
    with redis.Redis.from_url(server_url) as real:
        yield real
        if left := list(real.scan_iter(f"{prefix}*", count=1000)):
            real.unlink(*left)


@pytest.fixture
def shift(monkeypatch):
    """Put this process' clock on or back by hours."""
    return lambda hours: monkeypatch.setattr(time, "time", lambda: _right() + hours * 3_600)


def said(name="m-1", text="hello"):
    return Message(role="user", content=text, id=name, thread_id="t-1", resource_id="harold", tokens=100)


@pytest.mark.parametrize("first", HOURS)
@pytest.mark.parametrize("second", HOURS)
def test_an_id_is_accepted_once_by_clients_whose_clocks_disagree(client, prefix, shift, first, second):
    """Breaks when what is known of an id depends on a client's clock."""
    shift(first)
    assert World(client, prefix).om.add_message(said()).added == 1
    shift(second)
    again = World(client, prefix).om.add_message(said())

    assert (again.added, again.duplicates) == (0, ("m-1",))


def test_a_clock_that_jumps_between_two_calls_of_one_client_is_learnt_anew(client, prefix, shift):
    """Breaks when the offset that the first reply taught is trusted for ever."""
    world = World(client, prefix)
    added = []
    for n, hours in enumerate((0.0, 5.0, -5.0, 0.0, 24 * 400.0)):
        shift(hours)
        added += [world.om.add_message(said(f"m-{n}")).added, world.om.add_message(said(f"m-{n}", "again")).added]

    assert added == [1, 0] * 5
    assert world.covering() == [f"m-{n}" for n in range(5)]


def test_a_call_of_a_client_with_a_wrong_clock_costs_one_round_trip(client, prefix, shift):
    world = World(client, prefix)
    calls = []
    evalsha = client.evalsha
    client.evalsha = lambda *args: calls.append(args) or evalsha(*args)
    shift(2)
    for n in range(3):
        world.om.add_message(said(f"m-{n}"))

    assert len(calls) == 3


@pytest.mark.parametrize("hours", HOURS[1:])
def test_workers_with_a_wrong_clock_adopt_claim_and_observe_as_others_do(client, prefix, shift, hours):
    """Breaks when a lease, a deadline or an adoption is reckoned by a worker's clock."""
    world = World(client, prefix)
    ids = world.say(*[f"message {n}" for n in range(6)])
    client.zadd(
        f"{prefix}:{{harold}}:messages:t-1", {'{"id":"plain","role":"user","content":"hi","tokens":100}': 17636e8}
    )
    client.zadd(f"{prefix}:adopt", {f"{prefix}:{{harold}}:messages:t-1": 0})
    shift(hours)

    world.sweep()
    world.settle()
    assert world.om.observations("harold") or world.om.stats("harold").ready_chunks
    assert world.covering() == sorted([*ids, "plain"])
    assert world.om.verify() == []
    now = world.services.run(due.server_ms())
    leases = [score - now for _, score in client.zrange(world.services.keys.due_observe, 0, -1, withscores=True)]
    assert all(lease <= 3_600_000 for lease in leases)


def test_two_workers_whose_clocks_disagree_never_hold_one_lease(client, prefix, shift):
    world = World(client, prefix)
    world.services.run(due.mark(world.services.keys.due_observe, ["harold"]))
    claims = []
    for hours in HOURS:
        shift(hours)
        claims += World(client, prefix).services.run(due.claim(world.services.keys.due_observe, 10))

    assert len(claims) == 1


def test_a_beat_whose_clock_is_put_back_goes_on_sending(monkeypatch):
    """Breaks when the schedule is reckoned by the wall clock: nothing would be sent for the hours it was put back by."""
    entry = app.app.conf.beat_schedule["om.observer_tick"]["schedule"]
    sent = entry.now()
    monkeypatch.setattr(app.app, "now", lambda: sent - timedelta(hours=2))
    assert not entry.is_due(sent).is_due

    passed = time.monotonic() + entry.seconds
    monkeypatch.setattr(time, "monotonic", lambda: passed)
    assert entry.is_due(sent).is_due

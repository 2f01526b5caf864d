"""A tick finds what is due and passes it on, once in its slot however many beats there are."""

from __future__ import annotations

import re

import pytest
from structlog.testing import capture_logs
from world import World

from om_api.store import due, health, presence
from om_workers import rounds, ticks, wiring
from om_workers.sweep import Sweep


@pytest.fixture(autouse=True)
def house(monkeypatch, world):
    """This process' workshop is the world's."""
    monkeypatch.setattr(wiring, "workshop", lambda: world.shop)
    monkeypatch.setattr(wiring, "settings_changed", lambda: False)


def _mark(world, *names, index="observe"):
    world.client.zadd(f"{world.prefix}:due:{index}", dict.fromkeys(names, 1))


def _passed_on(world):
    return sorted(ids[0] for _, ids in world.dispatch.queue)


def _next_slot(world):
    world.client.delete(world.shop.keys.tick("observer"))


def test_of_two_beats_in_one_slot_the_second_does_nothing(world):
    """Catches a guard that everyone gets: three beats would claim and ask three times as often."""
    assert ticks.observer_tick() == "rest"
    _mark(world, "harold")

    assert ticks.observer_tick() == "busy"
    assert _passed_on(world) == []

    _next_slot(world)
    assert ticks.observer_tick() == "rest"
    assert _passed_on(world) == ["harold"]


def test_a_slot_ends_before_the_next_tick_of_its_beat(world):
    ticks.observer_tick()

    assert 0 < world.client.pttl(world.shop.keys.tick("observer")) < world.settings.memory.observer_interval * 1000


def test_whoever_watches_is_told_when_each_tick_ran_and_only_by_the_one_that_did(world):
    """Catches a tick that leaves no word of itself: doctor and alarms would say that no beat runs."""
    ticks.observer_tick()
    told = world.shop.run(health.ticks(world.shop.keys))
    world.shop.run(presence.ticked(world.shop.keys, "observer", 1, 10))
    assert ticks.observer_tick() == "busy"

    assert told["observer"].interval == world.settings.memory.observer_interval
    assert told["reflector"] is None
    assert world.shop.run(health.ticks(world.shop.keys))["observer"].at == 1


def test_each_index_is_passed_on_to_who_works_it(world):
    _mark(world, "harold")
    _mark(world, "albert", index="reflect")
    ticks.observer_tick()
    ticks.reflector_tick()

    assert [(verb, ids[0]) for verb, ids in world.dispatch.queue] == [("observe", "harold"), ("reflect", "albert")]


@pytest.mark.parametrize(("n", "asked"), [(0, 1), (1, 1), (4, 3), (5, 3)])
def test_a_tick_claims_slice_after_slice_until_one_is_not_full(world, monkeypatch, n, asked):
    """Catches a tick that takes one slice (the rest waits for the next beat), and one that goes on asking for nothing."""
    monkeypatch.setattr(rounds, "_CLAIMS", 2)
    calls, claim = [], due.claim
    monkeypatch.setattr(rounds.due, "claim", lambda *args: calls.append(args) or claim(*args))
    names = sorted(f"harold-{i}" for i in range(n))
    if names:
        _mark(world, *names)
    ticks.observer_tick()

    assert _passed_on(world) == names
    assert len(calls) == asked


def test_a_tick_that_did_something_is_a_line_of_log_and_no_other(world):
    with capture_logs() as lines:
        ticks.observer_tick()
    assert lines == []

    _next_slot(world)
    _mark(world, "harold")
    with capture_logs() as lines:
        ticks.observer_tick()
    assert [(line["event"], line["due"]) for line in lines] == [("observer_ticked", 1)]


@pytest.mark.parametrize("changed", [False, True])
def test_changed_settings_are_made_known_and_unchanged_ones_cost_nothing(world, monkeypatch, changed):
    told = []
    monkeypatch.setattr(wiring, "settings_changed", lambda: changed)
    monkeypatch.setattr(Sweep, "apply_settings", lambda sweep: told.append(sweep))
    ticks.observer_tick()

    assert bool(told) is changed


@pytest.mark.parametrize("index", ["observe", "reflect"])
def test_what_no_scope_can_be_called_is_dropped_and_stops_nobody(world, index):
    """Catches one agent that marks nonsense: the tick would fail with every scope of its slice on lease."""
    _mark(world, b"\xff\xfe", "", "a b", "harold|", "x" * 201, "{albert}", "harold", index=index)
    tick = ticks.observer_tick if index == "observe" else ticks.reflector_tick

    assert tick() == "rest"
    assert _passed_on(world) == ["harold"]
    assert world.client.zrange(f"{world.prefix}:due:{index}", 0, -1) == [b"harold"]


def test_tasks_carry_ids_and_never_what_was_said(world):
    sent = []
    for verb in ("observe", "observe_chunks", "reflect", "adopt"):
        own = getattr(world.dispatch, verb)
        setattr(world.dispatch, verb, lambda *args, own=own: (sent.append(args), own(*args)))
    world.say(*(f"a secret of {n} words" for n in range(12)), tokens=400)
    world.om.force_reflect("harold")
    world.settle()

    words = {word for args in sent for each in args for word in ([each] if isinstance(each, str) else each)}
    assert len(sent) > 3
    assert all(re.fullmatch(r"[A-Za-z0-9._:@+|{}-]+", word) for word in words)


def test_who_looks_at_a_scope_observes_there_what_comes_first_and_passes_on_the_rest(client, prefix, monkeypatch):
    """Catches a chunk that is observed by nobody, and one that is passed on though it is being observed right there."""
    world = World(client, prefix, observer__max_tokens_per_batch="0")
    monkeypatch.setattr(wiring, "workshop", lambda: world.shop)
    world.say("first", thread="t-1", tokens=700)
    world.say("second", thread="t-2", tokens=700)
    with capture_logs() as lines:
        assert ticks.observe("harold") == "buffered"

    assert [line["event"] for line in lines] == ["scope_observed", "chunk_observed"]
    assert [[message.content for message in request.messages] for request in world.model.requests] == [["first"]]
    world.work()
    assert [request.messages[0].content for request in world.model.requests] == ["first", "second"]


def test_who_looks_at_a_scope_where_nothing_is_to_be_observed_says_what_the_look_came_to(world):
    assert ticks.observe("harold") == "rest"

"""A round is made once in its slot, is told, and is logged if it did something."""

from __future__ import annotations

import pytest
from structlog.testing import capture_logs

from om_api.store.fleet import health, presence
from om_workers.work.dispatcher import Dispatcher
from om_workers.work.rounds import Rounds


@pytest.fixture
def rounds(world):
    """One beat's rounds, over threads that are there for every task."""
    world.services.presence.serve(health.QUEUES, 32)
    return Rounds(world.services, Dispatcher(world.services), lambda: False)


def _mark(world, name):
    """Have a scope due under whose name somebody once wrote."""
    world.client.hset(world.services.keys.of(name).tokens, "*", 0)
    world.client.zadd(f"{world.prefix}:due:observe", {name: 1})


def _passed_on(world):
    return sorted(ids[0] for _, ids in world.dispatch.queue)


def _next_slot(world):
    world.client.delete(world.services.keys.tick("observer"))


def test_of_two_beats_in_one_slot_the_second_does_nothing(world, rounds):
    """Catches a guard that everyone gets: three beats would claim and ask three times as often."""
    assert rounds.observe() == "rest"
    _mark(world, "harold")

    assert rounds.observe() == "busy"
    assert _passed_on(world) == []

    _next_slot(world)
    assert rounds.observe() == "rest"
    assert _passed_on(world) == ["harold"]


def test_a_slot_ends_before_the_next_tick_of_its_beat_and_not_long_before(world, rounds):
    rounds.observe()

    interval = world.settings.memory.observer_interval
    assert interval * 500 < world.client.pttl(world.services.keys.tick("observer")) < interval * 1000


def test_whoever_watches_is_told_when_each_tick_ran_and_only_by_the_one_that_did(world, rounds):
    """Catches a tick that leaves no word of itself: doctor and alarms would say that no beat runs."""
    rounds.observe()
    told = world.services.run(health.ticks(world.services.keys))
    world.services.run(presence.ticked(world.services.keys, "observer", 1, 10))
    assert rounds.observe() == "busy"

    assert told["observer"].interval == world.settings.memory.observer_interval
    assert told["reflector"] is None
    assert world.services.run(health.ticks(world.services.keys))["observer"].at == 1


def test_a_tick_that_did_something_is_a_line_of_log_and_no_other(world, rounds):
    with capture_logs() as lines:
        rounds.observe()
    assert lines == []

    _next_slot(world)
    _mark(world, "harold")
    with capture_logs() as lines:
        rounds.observe()
    assert [(line["event"], line["due"]) for line in lines] == [("observer_ticked", 1)]

"""What is measured is what is said to be measured."""

import pytest

from om_api.store.memory import due
from om_bench.scale.works import Stage, works


@pytest.fixture
def stage(small):
    return Stage(small, 60)


def _held(small):
    """How many scopes wait as tasks."""
    return small.servers.nodes[0].zcard(due.queued(small.keys.due_observe))


def test_a_tick_with_nothing_due_hands_out_nothing_and_one_of_a_busy_minute_what_came_due(small, stage):
    stage.next_slot()
    stage.observer_tick(0)
    assert _held(small) == 0

    stage.come_due(3)
    stage.observer_tick(3)
    assert _held(small) == 10  # in ten of sixty seconds


def test_a_sweep_tends_everybody_where_they_are_few(small, stage):
    stage.next_slot()
    assert stage.tended() == 0

    stage.sweep(0)
    assert stage.tended() == small.agents


def test_an_active_agent_has_said_something_and_nobody_else_has(small, stage):
    name, other = stage.active[1], stage.active[2]
    before = [small.running.om.stats(each).message_tokens for each in (name, other)]
    stage.push(1)

    assert small.running.om.stats(name).message_tokens > before[0]
    assert small.running.om.stats(other).message_tokens == before[1]


def test_a_worker_is_started_and_runs_the_tick_that_a_beat_left(small, stage):
    broker = small.servers.nodes[0]
    stage.leave_a_tick(0)
    assert (broker.llen("ticks"), broker.exists(small.keys.ticked("observer"))) == (1, 0)

    stage.cold_start(0)
    assert (broker.llen("ticks"), broker.exists(small.keys.ticked("observer"))) == (0, 1)


def test_no_two_works_have_one_name():
    names = [each.name for each in works(2_000)]

    assert len(set(names)) == len(names) > 10

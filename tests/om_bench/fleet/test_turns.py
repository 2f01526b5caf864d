"""Resources take turns, however many scopes each has due."""

from om_bench.fleet.turns import DueTask, FairTurns


def due(resource, seconds=1.0):
    return DueTask(resource, 0.0, 1.0, seconds)


def given(turns, most=100):
    return [task.resource for task in turns.take(most)]


def test_what_came_has_no_turn_before_the_tick():
    turns = FairTurns()
    turns.add(due("harold"))

    assert (given(turns), len(turns)) == ([], 1)
    turns.admit()
    assert (given(turns), len(turns)) == (["harold"], 0)


def test_a_small_agent_comes_before_the_second_scope_of_a_large_one():
    turns = FairTurns()
    for name in ("noisy", "noisy", "noisy", "small"):
        turns.add(due(name))
    turns.admit()

    assert given(turns) == ["noisy", "small", "noisy", "noisy"]


def test_a_scope_costs_its_resource_what_tasks_of_its_model_last():
    turns = FairTurns()
    for name, seconds in (("slow", 60.0), ("slow", 60.0), *[("quick", 1.0)] * 3):
        turns.add(due(name, seconds))
    turns.admit()

    assert given(turns) == ["quick", "quick", "quick", "slow", "slow"]


def test_who_comes_new_begins_where_the_others_are():
    """Not at nothing: else a new agent's thousand scopes would come before all that have waited."""
    turns = FairTurns()
    for _ in range(10):
        turns.add(due("old"))
    turns.admit()
    given(turns, 5)
    for _ in range(3):
        turns.add(due("new"))
    turns.admit()

    assert given(turns, 4).count("old") == 2

"""The costliest agents come first, by what they are billed, and cost the same to tell however many there are."""

import pytest
from scene import trips
from world import World

from om_api.billing import agent_costs
from om_api.domain.errors import InvalidInputError
from om_workers.calls.ledger import Ledger
from om_workers.llm.base import Usage

PRICED = {"models__priced__prices": "{input: 1, cached: 0.1, output: 4}", "observer_model": "priced"}


@pytest.fixture
def world(client, prefix):
    return World(client, prefix, budget__dollars_per_day="0.1", **PRICED)


def spend(world, **dollars):
    book = Ledger(world.settings, world.services.connection, world.services.keys, world.services.events)
    for name, much in dollars.items():
        entry = book.open(name, "observe", "priced", 100)
        book.close(entry, Usage(input=round(much * 1_000_000), cached=0, output=0))


def costs(found):
    return {each.resource: round(each.cost, 6) for each in found.agents}


def test_the_costliest_come_first_with_what_all_cost(world):
    spend(world, albert=0.02, berta=0.05, clara=0.01)
    spend(world, clara=0.03)
    found = world.om.costs_by_agent(limit=2)

    assert list(costs(found).items()) == [("berta", 0.05), ("clara", 0.04)]
    assert (round(found.cost, 6), found.agents[1].calls, found.first == found.last) == (0.11, 2, True)
    (left,) = found.agents[0].budgets
    assert (left.setting, left.used, left.limit) == ("budget.dollars_per_day", 0.05, 0.1)


def test_of_some_agents_nothing_is_told_of_the_others(world):
    spend(world, albert=0.02, berta=0.05)
    found = world.om.costs_by_agent(7, among=["albert", "nobody"])

    assert (costs(found), found.cost) == ({"albert": 0.02}, 0.02)
    assert world.om.costs_by_agent(among=[]).agents == ()


def test_what_contexts_saved_is_told_with_it(client, prefix):
    world = World(client, prefix, actor_model="priced", **PRICED)
    world.say("hello")
    world.context()
    world.om.tell()
    spend(world, harold=0.01)
    (harold,) = world.om.costs_by_agent().agents

    assert (harold.contexts, harold.saved_tokens, harold.saved_dollars is not None) == (
        *(1, world.om.costs("harold").savings[1].saved_tokens),
        True,
    )


@pytest.mark.parametrize(("days", "limit"), [(0, 20), (32, 20), (1, 0), (1, 101)])
def test_more_than_is_told_at_once_is_refused(world, days, limit):
    with pytest.raises(InvalidInputError, match="use 1 to"):
        world.om.costs_by_agent(days, limit=limit)


def test_what_it_costs_does_not_grow_with_the_number_of_agents(world):
    counts = []
    for agents in (5, 40):
        spend(world, **{f"agent-{n}": 0.001 for n in range(agents)})
        steps = agent_costs.costs_by_agent(world.settings, world.services.keys, 1, 3, None)
        counts.append(world.services.run(trips(steps))[1])

    assert counts[0] == counts[1]

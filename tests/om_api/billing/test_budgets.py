"""Costs and budgets as an agent, the command line and the doctor ask for them."""

import pytest
from world import World

from om_api import InvalidInputError
from om_api.billing import budgets
from om_api.store.memory import due
from om_workers.calls.ledger import Ledger
from om_workers.llm.base import Usage

PRICED = {"models__priced__prices": "{input: 1, cached: 0.1, output: 4}", "observer_model": "priced"}


@pytest.fixture
def house(client, prefix):
    """A world whose settings a test names."""
    return lambda **changed: World(client, prefix, **{**PRICED, **changed})


def call(world, calls=1, resource="harold", model="priced"):
    book = Ledger(world.settings, world.services.connection, world.services.keys, world.services.events)
    for _ in range(calls):
        book.close(book.open(resource, "observe", model, 100), Usage(input=1_000, cached=600, output=200))


def test_costs_are_those_of_the_agent_or_of_all(house):
    world = house()
    call(world, 2)
    call(world, resource="ada")

    assert (world.om.costs("harold").calls, world.om.costs("ada").calls, world.om.costs().calls) == (2, 1, 3)
    assert world.om.costs("harold").cost == pytest.approx(2 * 0.00126)
    assert world.om.costs("nobody").lines == ()


def test_clearing_a_memory_keeps_its_bills(house):
    world = house()
    world.say("hello")
    call(world)
    world.om.clear("harold")

    assert world.om.costs("harold").calls == 1


def test_days_that_no_bill_is_kept_for_are_refused(house):
    for days in (0, 401):
        with pytest.raises(InvalidInputError, match="permitted: 1 to 400"):
            house().om.costs(days=days)


def test_stats_say_what_today_cost_and_which_budget_is_reached(house):
    world = house(budget__calls_per_day="1", total_budget__tokens_per_day="5000")
    world.say("hello")
    before = world.om.stats("harold")
    call(world)
    after = world.om.stats("harold")

    assert (before.cost_today, before.budget_reached) == (0, "")
    assert (after.cost_today, after.budget_reached) == (0.00126, "budget.calls_per_day")


def test_a_total_budget_that_is_reached_is_reached_for_everybody(house):
    world = house(total_budget__calls_per_day="1")
    call(world, resource="ada")

    assert world.om.stats("harold").budget_reached == "total_budget.calls_per_day"
    assert [budget.setting for budget in world.om.costs().budgets] == ["total_budget.calls_per_day"]


def test_budgets_that_are_used_up_are_listed_once_with_their_agents(house):
    world = house(budget__calls_per_day="1", total_budget__calls_per_day="2")
    for resource in ("harold", "ada"):
        call(world, resource=resource)
    now = world.services.run(due.server_ms())
    found = world.services.run(budgets.used_up(world.settings, world.services.keys, ["harold", "ada", "eve"], now))

    assert [(each.agents, each.budget.setting) for each in found] == [
        (("harold", "ada"), "budget.calls_per_day"),
        (("all agents",), "total_budget.calls_per_day"),
    ]


def test_savings_are_in_dollars_where_the_actors_model_has_prices(house):
    world = house(actor_model="priced")
    world.say("hello", tokens=1_000)
    world.context()
    world.om.close()
    uncached, cached = world.om.costs("harold").savings

    assert uncached.baseline_dollars == cached.baseline_dollars == 0.001
    assert world.om.costs().savings[0].baseline_tokens == 1_000


@pytest.mark.parametrize(("adas", "alls"), [("gpt-4o", "gpt-4o"), ("gpt-4o-mini", None)])
def test_savings_of_all_have_a_price_only_where_all_agents_name_the_same_actor(client, prefix, tmp_path, adas, alls):
    (tmp_path / "observational-memory.yaml").write_text("observational_memory: {actor_model: gpt-4o}")
    (tmp_path / "agents" / "ada").mkdir(parents=True)
    (tmp_path / "agents" / "ada" / "memory.yaml").write_text(f"observational_memory: {{actor_model: {adas}}}")
    om = World(client, prefix, config_dir=tmp_path).om

    assert (om.costs("harold").actor_model, om.costs("ada").actor_model) == ("gpt-4o", adas)
    assert om.costs().actor_model == alls

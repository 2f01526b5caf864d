"""Costs, budgets and savings: of an agent, of all, and the costliest agents first."""

import pytest
from world import World

from om_api.billing import budgets
from om_api.billing.costs import CACHED, UNCACHED, CostLine, Left, costs, left, lines, savings
from om_api.billing.prices import TokenPrices
from om_api.domain.errors import InvalidInputError
from om_api.settings.memory_settings import BudgetSettings
from om_api.store.fleet.spending import Most, field
from om_api.store.memory import due
from om_workers.calls.ledger import Ledger
from om_workers.llm.base import Usage

RATES = TokenPrices(fresh=1.0, cached=0.1)  # dollars per million tokens
SERVED = {"contexts": 10, "tokens": 400_000, "cached": 300_000, "raw": 2_000_000, "raw_cached": 1_800_000}


def bill(model="m", purpose="observe", **amounts):
    return {field(model, purpose, what): amount for what, amount in amounts.items()}


def test_a_bill_is_by_model_and_purpose():
    counted = {**bill("b|c", calls=2, input=50, micros=1_500_000), **bill("a", "reflect", calls=1, failed=1)}
    expected = [
        CostLine(day="d", model="a", purpose="reflect", calls=1, failed=1, cost=0.0),
        CostLine(day="d", model="b|c", purpose="observe", calls=2, input=50, cost=1.5),
    ]

    assert lines("d", {**counted, "all|calls": 3, "open|e1": 1, "served|raw": 9}) == expected


def test_a_cost_is_unknown_only_where_no_call_has_a_price():
    for unpriced, cost in ((0, 0.000007), (1, 0.000007), (2, None)):
        (line,) = lines("d", bill(calls=2, micros=7, unpriced=unpriced))
        assert (line.cost, line.unpriced) == (cost, unpriced)


def test_savings_hold_like_against_like():
    uncached, cached = savings(SERVED, RATES, memory=0.05)
    assert (uncached.baseline, uncached.saved_tokens) == (UNCACHED, 1_600_000)
    assert (uncached.baseline_dollars, uncached.served_dollars) == (2.0, 0.4)
    assert uncached.saved_dollars == pytest.approx(2.0 - 0.4 - 0.05)
    assert (cached.baseline, cached.baseline_cached, cached.served_cached) == (CACHED, 1_800_000, 300_000)
    assert cached.baseline_dollars == pytest.approx(0.2 + 0.18)
    assert cached.served_dollars == pytest.approx(0.1 + 0.03)
    assert cached.saved_dollars == pytest.approx(0.38 - 0.13 - 0.05)
    assert savings(SERVED, RATES, memory=5.0)[1].saved_dollars < 0
    assert [(each.saved_tokens, each.saved_dollars) for each in savings(SERVED, None, memory=0.25)] == [
        (1_600_000, None)
    ] * 2
    assert savings({}, RATES, memory=1.0) == ()


def test_what_is_left_is_told_for_each_limit_that_is_stated():
    budget = BudgetSettings(calls_per_day=10, dollars_per_day=2.0, then="extractive")
    found = list(left("budget", budget, Most(10, 999, 1_500_000)))

    assert found == [
        Left(setting="budget.calls_per_day", limit=10, used=10, left=0, reached=True, then="extractive"),
        Left(setting="budget.dollars_per_day", limit=2.0, used=1.5, left=0.5, reached=False, then="extractive"),
    ]


def test_days_are_added_up():
    days = [{**bill(calls=1, micros=500_000), "open|e": 1}, bill(calls=2, micros=250_000, unpriced=1, estimated=1)]
    found = costs("harold", ["2026-11-20", "2026-11-21"], days, RATES, "m", ())

    assert (found.first, found.last, found.cost, found.calls) == ("2026-11-20", "2026-11-21", 0.75, 3)
    assert (found.unpriced, found.open, found.contexts, found.savings) == (1, 1, 0, ())
    assert found.estimated == 1
    assert [line.day for line in found.lines] == ["2026-11-20", "2026-11-21"]


def test_a_budget_lasts_until_it_is_used_up_at_the_pace_of_the_day():
    """Of 100 calls 50 were made in the first six hours: the rest lasts for six more."""
    midnight, hour = 20_000 * 86_400_000, 3_600_000
    for used, passed_h, until_h in (
        (50, 6, 12), (50, 12, None), (10, 6, None), (0, 6, None), (100, 6, None), (99, 0, None),
    ):  # fmt: skip
        (found,) = left("budget", BudgetSettings(calls_per_day=100), Most(used, 0, 0), midnight + passed_h * hour)
        assert found.lasts_until == (None if until_h is None else midnight + until_h * hour), (used, passed_h)


PRICED = {"models__priced__prices": "{input: 1, cached: 0.1, output: 4}", "observer_model": "priced"}


@pytest.fixture
def house(client, prefix):
    """A world whose settings a test names."""
    return lambda **changed: World(client, prefix, **{**PRICED, **changed})


def call(world, calls=1, resource="harold", model="priced"):
    book = Ledger(world.settings, world.services.connection, world.services.keys, world.services.events)
    for _ in range(calls):
        book.close(book.open(resource, "observe", model, 100), Usage(input=1_000, cached=600, output=200))


def test_costs_are_those_of_the_agent_or_of_all_and_outlive_its_memory(house):
    world = house()
    world.say("hello")
    call(world, 2)
    call(world, resource="ada")
    world.om.clear("harold")

    assert (world.om.costs("harold").calls, world.om.costs("ada").calls, world.om.costs().calls) == (2, 1, 3)
    assert world.om.costs("harold").cost == pytest.approx(2 * 0.00126)
    assert world.om.costs("nobody").lines == ()
    for days in (0, 401):
        with pytest.raises(InvalidInputError, match="permitted: 1 to 400"):
            world.om.costs(days=days)


def test_stats_say_what_today_cost_and_which_budget_is_reached(house):
    world = house(budget__calls_per_day="1", total_budget__calls_per_day="2")
    world.say("hello")
    found = [world.om.stats("harold")]
    for resource in ("harold", "ada"):
        call(world, resource=resource)
        found.append(world.om.stats("harold"))

    assert [(each.cost_today, each.budget_reached) for each in found[:2]] == [
        (0, ""),
        (0.00126, "budget.calls_per_day"),
    ]
    assert world.om.stats("eve").budget_reached == "total_budget.calls_per_day"
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


def test_savings_of_all_have_a_price_only_where_all_agents_name_the_same_actor(client, prefix, tmp_path):
    (tmp_path / "observational-memory.yaml").write_text("observational_memory: {actor_model: gpt-4o}")
    (tmp_path / "agents" / "ada").mkdir(parents=True)
    for adas, alls in (("gpt-4o", "gpt-4o"), ("gpt-4o-mini", None)):
        (tmp_path / "agents" / "ada" / "memory.yaml").write_text(f"observational_memory: {{actor_model: {adas}}}")
        om = World(client, prefix, config_dir=tmp_path).om
        assert (om.costs("harold").actor_model, om.costs("ada").actor_model) == ("gpt-4o", adas)
        assert om.costs().actor_model == alls, adas


@pytest.fixture
def world(client, prefix):
    return World(client, prefix, budget__dollars_per_day="0.1", **PRICED)


def spend(world, **dollars):
    book = Ledger(world.settings, world.services.connection, world.services.keys, world.services.events)
    for name, much in dollars.items():
        entry = book.open(name, "observe", "priced", 100)
        book.close(entry, Usage(input=round(much * 1_000_000), cached=0, output=0))


def dollars_of(found):
    return {each.resource: round(each.cost, 6) for each in found.agents}


def test_the_costliest_come_first_with_what_all_cost(world):
    spend(world, albert=0.02, berta=0.05, clara=0.01)
    spend(world, clara=0.03)
    found = world.om.costs_by_agent(limit=2)

    assert list(dollars_of(found).items()) == [("berta", 0.05), ("clara", 0.04)]
    assert (round(found.cost, 6), found.agents[1].calls, found.first == found.last) == (0.11, 2, True)
    (left,) = found.agents[0].budgets
    assert (left.setting, left.used, left.limit) == ("budget.dollars_per_day", 0.05, 0.1)


def test_of_some_agents_nothing_is_told_of_the_others_and_no_more_than_permitted(world):
    spend(world, albert=0.02, berta=0.05)
    found = world.om.costs_by_agent(7, among=["albert", "nobody"])

    assert (dollars_of(found), found.cost) == ({"albert": 0.02}, 0.02)
    assert world.om.costs_by_agent(among=[]).agents == ()
    for days, limit in ((0, 20), (32, 20), (1, 0), (1, 101)):
        with pytest.raises(InvalidInputError, match="use 1 to"):
            world.om.costs_by_agent(days, limit=limit)

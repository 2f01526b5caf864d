"""`om costs` as a user types it, and what stats and the doctor say of budgets."""

import pytest
from world import World

from om_workers.calls.ledger import Ledger
from om_workers.llm.base import Usage

PRICES = {"OM_MODELS__PRICED__PRICES": "{input: 1, cached: 0.1, output: 4}", "OM_OBSERVER_MODEL": "priced"}


@pytest.fixture
def spent(client, prefix, monkeypatch):
    """A world in which harold's model was called twice, under settings that the command line shares."""

    def make(**changed):
        named = {f"OM_{name.upper()}": value for name, value in changed.items()}
        for name, value in {**PRICES, **named}.items():
            monkeypatch.setenv(name, value)
        lowered = {name.removeprefix("OM_").lower(): value for name, value in {**PRICES, **named}.items()}
        world = World(client, prefix, **lowered)
        world.say("hello")
        world.context()
        world.om.close()
        book = Ledger(world.settings, world.services.connection, world.services.keys, world.services.events)
        for _ in range(2):
            entry = book.open("harold", "observe", "priced", 100)
            book.close(entry, Usage(input=1_000, cached=600, output=200))
        return world

    return make


def test_costs_are_a_table_by_day_model_and_purpose(om, spent):
    spent()
    shown = om("costs", "harold")

    assert shown.exit_code == 0
    assert " ".join(shown.stdout.split("in all")[0].split()[-9:]).endswith("priced observe 2 0 2,000 60% 400 0.0025")
    assert "raw history, uncached" in shown.stdout
    assert "raw history, provider-cached" in shown.stdout
    assert "name the agent's own model in actor_model" in shown.stderr


def test_costs_are_told_to_programs(om_json, spent):
    spent(budget__calls_per_day="2", actor_model="priced")
    found = om_json("costs", "harold", "--days", "2")

    assert [(line["model"], line["calls"], line["cost"]) for line in found["lines"]] == [("priced", 2, 0.00252)]
    assert [(budget["setting"], budget["reached"]) for budget in found["budgets"]] == [("budget.calls_per_day", True)]
    assert found["savings"][0]["saved_dollars"] is not None


def test_costs_of_all_agents_need_no_name(om_json, spent):
    spent()

    assert om_json("costs")["calls"] == 2


def test_an_agent_that_nobody_knows_is_an_error(om):
    assert om("costs", "nobody").exit_code == 1


def test_costs_where_nothing_was_called_say_so(om):
    shown = om("costs")

    assert shown.exit_code == 0
    assert "no call of a model was counted" in shown.stderr


def test_the_command_line_counts_no_context_that_it_shows(om, om_json, spent):
    spent()
    om("context", "harold", "t-1")

    assert om_json("costs", "harold")["contexts"] == 1


def test_stats_show_todays_cost_and_the_budget_that_is_reached(om, om_json, spent):
    spent(budget__calls_per_day="2")

    assert "used up: budget.calls_per_day" in om("stats", "harold").stderr
    assert om_json("stats", "harold")["cost_today"] == 0.00252


def test_the_doctor_names_a_budget_that_is_reached_and_the_remedy(om, spent):
    spent(total_budget__calls_per_day="2", total_budget__then="extractive")
    (line,) = [line for line in om("doctor").stdout.splitlines() if "budget reached" in line]

    assert line.startswith("warning")
    assert "total_budget.calls_per_day 2 of all agents; the extractive model stands in" in line
    assert "-> raise total_budget.calls_per_day" in line


def test_the_doctor_names_no_budget_of_the_resource_that_is_nobodys(om, monkeypatch):
    monkeypatch.setenv("OM_BUDGET__CALLS_PER_DAY", "0")

    assert "budget reached" not in om("doctor").stdout


def test_the_doctor_names_a_model_that_no_budget_in_dollars_can_bound(om, spent):
    spent(observer_model="mystery", budget__dollars_per_day="5")

    assert "nobody knows what mystery costs" in om("doctor").stdout


def test_the_costliest_agents_are_a_table_with_what_is_left_of_their_budgets(om, om_json, spent):
    spent(budget__dollars_per_day="0.01")
    shown = om("costs", "--by", "agent")

    assert " ".join(shown.stdout.split()).count("harold 2 2,000 400 0.0025") == 1
    assert "25%" in shown.stdout
    assert om_json("costs", "--by", "agent", "harold")["agents"][0]["calls"] == 2
    assert om("costs", "--by", "agent", "--days", "40").exit_code == 2

"""Money: what models cost by day, model and agent, what is left of budgets, and what was saved, as the client says it."""

import pytest
from playwright.sync_api import expect

from browser.past import billed, served
from browser.serving import Site

COSTS = {0: 0.75, 1: 0.5, 2: 0.25, 20: 9.0}


@pytest.fixture(scope="module")
def site(server_url, tmp_path_factory):
    """A store whose agents have budgets, and whose contexts are read by a model of a known price."""
    folder = tmp_path_factory.mktemp("site")
    limits = {
        "OM_BUDGET__DOLLARS_PER_DAY": "0.7",
        "OM_BUDGET__CALLS_PER_DAY": "100",
        "OM_ACTOR_MODEL": "gemini-2.5-flash",
    }
    with Site(folder, server_url, f"pages-{folder.name}:om", **limits) as started:
        for name in ("harold", "ada"):
            started.world.say("Mine.", resource=name)
        started.world.settle()
        billed(started.world, "harold", "gemini-2.5-flash", COSTS)
        billed(started.world, "ada", "deepseek-chat", {0: 0.02}, "reflect")
        served(
            started.world,
            "harold",
            1,
            contexts=40,
            tokens=1_000_000,
            cached=900_000,
            raw=9_000_000,
            raw_cached=8_000_000,
        )
        yield started


def _row(row, first, *cells):
    """What the cells of a row say, from one of them on."""
    for n, cell in enumerate(cells, first):
        expect(row.locator("td").nth(n)).to_have_text(cell)


def test_an_agents_costs_are_those_of_the_days_asked_for(site, signed_in):
    visit = signed_in("reader", "harold")
    visit.go("/ui/agents/harold/costs")
    facts = visit.page.locator("dl.facts")
    expect(facts).to_contain_text("Cost$1.50")
    expect(facts).to_contain_text("Calls60")
    expect(facts).to_contain_text("Contexts served40")
    days = visit.page.get_by_role("region", name="By day, model and purpose").locator("tbody tr")
    expect(days).to_have_count(3)
    _row(days.first, 1, "gemini-2.5-flash", "observe", "20", "0", "40,000", "20,000", "8,000", "$0.75")
    visit.page.get_by_label("Days").select_option("30")
    expect(facts).to_contain_text("Cost$10.50")

    assert site.world.om.costs("harold", 30).cost == 10.5
    expect(visit.page.locator("figure svg polygon")).to_have_count(1)


def test_a_budget_that_is_used_up_says_what_happens_then_and_one_that_is_not_how_long_it_lasts(site, signed_in):
    visit = signed_in("reader", "harold")
    visit.go("/ui/agents/harold/costs")
    dollars, calls = (visit.page.locator("p", has_text=f"budget.{what}_per_day") for what in ("dollars", "calls"))

    expect(dollars).to_contain_text("$0.75 of $0.70")
    expect(dollars.locator(".state.bad")).to_contain_text("used up: ")
    expect(calls).to_contain_text("20 of 100")
    expect(calls.locator(".state.bad")).to_have_count(0)


def test_what_was_saved_is_told_beside_both_baselines(site, signed_in):
    visit = signed_in("reader", "harold")
    visit.go("/ui/agents/harold/costs")
    rows = visit.page.get_by_role("region", name="Saved against the raw history").locator("tbody tr")
    cached = site.world.om.costs("harold", 14).savings[1]

    expect(rows).to_have_count(2)
    saved = f"-${-cached.saved_dollars:.2f}"  # the notes cost more than a cached history would have
    would, served = (f"{tokens:,}" for tokens in (cached.baseline_cached, cached.served_cached))
    _row(
        rows.last,
        0,
        "raw history, provider-cached",
        "9,000,000",
        would,
        "1,000,000",
        served,
        "8,000,000",
        "$1.50",
        saved,
    )


def test_all_agents_are_listed_by_what_they_cost(site, signed_in):
    visit = signed_in()
    visit.go("/ui/money?days=7")
    agents = visit.page.locator("h2", has_text="By agent").locator("+ .wide tbody tr")

    expect(visit.page.locator("dl.facts")).to_contain_text("Cost$1.52")
    expect(agents).to_have_count(2)
    _row(agents.first, 0, "harold", "$1.50", "60", "40")
    agents.last.get_by_role("link", name="ada").click()
    expect(visit.page.locator("main")).to_contain_text("deepseek-chat")
    expect(visit.page.locator("main")).not_to_contain_text("gemini-2.5-flash")


def test_of_an_agent_that_cost_nothing_it_says_so(site, at_work, agent):
    at_work.go(f"/ui/agents/{agent}/costs")

    for says in ("No model was asked in these days.", "No context was served in these days.", "Nothing to show yet."):
        expect(at_work.page.locator("main")).to_contain_text(says)

"""Figures over time, of an agent and of all: drawn, the same in a table, of other days, and of one of whom nothing is known."""

import re

import pytest
from playwright.sync_api import expect

from browser.past import held
from om_workers.work.sampling import Sampler


@pytest.fixture(scope="module")
def sampled(site):
    """Two agents of whom the last three days are known, and what workers have just sampled."""
    for name, tokens in (("harold", 50), ("ada", 90)):
        site.world.say("Mine.", resource=name, tokens=tokens)
        held(site.world, name, 3)
    held(site.world, None, 3)
    site.world.settle()
    site.world.sweep()
    assert Sampler(site.world.services).sample()
    return site


def _figure(visit, title):
    return visit.page.locator("figure").filter(has=visit.page.locator("figcaption", has_text=re.compile(f"^{title}$")))


def _table(visit, title):
    figure = _figure(visit, title)
    figure.locator("summary").click()
    return figure.locator("tbody tr")


def test_an_agents_tokens_are_drawn_by_tier_and_stand_in_a_table_too(sampled, signed_in):
    visit = signed_in("reader", "harold")
    visit.go("/ui/agents/harold/figures")
    tiers = _figure(visit, "Tokens by tier")
    expect(tiers.locator("svg polygon")).to_have_count(4)
    expect(tiers.locator("[class^=key]")).to_have_text(
        ["raw, unsealed", "raw, in chunks", "observations", "reflections"]
    )
    rows = _table(visit, "Tokens by tier")
    newest = sampled.world.om.series("harold", 7).points[-1]

    assert newest.message_tokens == 50  # what the workers sampled
    expect(rows.last.locator("td.n")).to_have_text(["50", "0", "0", "0"])
    contexts = "Tokens of the contexts served, and of the raw history in their place"
    for title, drawn in (("Compression", "polygon"), (contexts, "polyline"), ("Dollars", "polyline")):
        expect(_figure(visit, title).locator(f"svg {drawn}")).not_to_have_count(0)


def test_what_was_paid_adds_up_to_what_the_client_says(sampled, signed_in):
    visit = signed_in("reader", "harold")
    visit.go("/ui/agents/harold/figures?days=1")
    paid = [float(text.lstrip("$")) for text in _table(visit, "Dollars").locator("td:nth-child(2)").all_inner_texts()]

    assert sum(paid) == pytest.approx(
        sum(point.cost for point in sampled.world.om.series("harold", 1).points), abs=1e-3
    )
    assert sum(paid) > 0


def test_other_days_are_shown_as_soon_as_they_were_chosen(sampled, signed_in):
    visit = signed_in("reader", "harold")
    visit.go("/ui/agents/harold/figures")
    rows = visit.page.locator("figure").first.locator("tbody tr")
    three = rows.count()
    visit.page.get_by_label("Days").select_option("1")
    expect(visit.page).to_have_url(re.compile(r"days=1$"))
    expect(visit.page.get_by_label("Days")).to_have_value("1")

    assert 70 <= three <= 75  # an hour each
    assert 70 <= rows.count() <= 75  # twenty minutes each


def test_all_agents_together_and_who_holds_most(sampled, signed_in):
    visit = signed_in("reader")
    visit.go("/ui/figures")
    agents = visit.page.locator("h2 ~ .wide tbody tr")
    expect(agents).to_have_count(2)
    expect(agents.first).to_contain_text(re.compile(r"ada\s+90"))
    expect(_table(visit, "Tokens by tier").last.locator("td.n").first).to_have_text("140")
    agents.first.get_by_role("link", name="ada").click()

    expect(visit.page).to_have_url(re.compile("/ui/agents/ada$"))


def test_of_an_agent_of_whom_nothing_was_sampled_it_says_so(at_work, agent):
    at_work.go(f"/ui/agents/{agent}/figures")

    expect(at_work.page.locator("figure", has_text="Nothing to show yet.")).to_have_count(4)

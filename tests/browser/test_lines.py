"""Lines by hand: added, corrected, taken back; a pinned one stands in what a forgetful model reflects, until it is let go."""

import re

import pytest
from playwright.sync_api import expect

from om_workers.llm.scripted import Scripted

FORGETFUL = "<observations>\nDate: Nov 20, 2026\n* 🟡 (09:00) Something else was talked about\n</observations>"


@pytest.fixture
def noted(site, at_work, agent):
    """The page of an agent all of whose words were observed."""
    site.world.observe_now(None, agent)
    expect(_region(at_work, "Observations")).to_contain_text("Parcel 4 lies in Oslo.")
    return at_work


@pytest.fixture
def reflects(site, agent):
    """Have a model that forgets everything reflect."""
    usual = site.world.model

    def forget():
        site.world.model = Scripted(*[FORGETFUL] * 8)
        site.world.reflect_now(agent)

    yield forget
    site.world.model = usual


def _region(visit, name):
    return visit.page.get_by_role("region", name=name)


def _open(visit, text):
    """Open the dialog of the line that says this."""
    line = visit.page.locator("ul.lines li:has(button)", has_text=text)
    line.get_by_role("button", name=re.compile("^Change or pin: ")).click()
    return visit.page.get_by_role("dialog")


def _read(site, agent):
    return site.world.context("t-1", agent).text


def test_a_line_is_added_and_taken_back(site, noted, agent):
    noted.page.get_by_label("Add a line").fill("User never flies")
    noted.press("Add")
    noted.told("Added, as the first of the observations. “Take back what was done by hand”")
    expect(_region(noted, "Observations")).to_contain_text("User never flies")
    added, read = site.world.om.observations(agent)[-1], _read(site, agent)
    noted.press("Take back what was done by hand")
    noted.told("Taken back")
    expect(_region(noted, "Observations")).not_to_contain_text("User never flies")
    assert (added.origin, added.message_ids) == ("added", ())
    assert "User never flies" in read
    assert "User never flies" not in _read(site, agent)


def test_a_pinned_line_stands_in_what_a_forgetful_model_reflects_until_it_is_let_go(site, noted, agent, reflects):
    _open(noted, "Parcel 2 lies in Oslo")
    noted.press("Pin as it was")
    noted.told("Pinned")
    (pin,) = site.world.om.pins(agent)
    reflects()
    reflection = _region(noted, "Reflection")
    expect(reflection).to_contain_text("Generation 1")
    expect(reflection.locator("ul.lines li", has_text="Something else was talked about")).to_be_visible()
    expect(reflection.locator("ul.lines li", has_text="Parcel 2 lies in Oslo.").last).to_contain_text("pinned")
    kept = site.world.om.generations(agent)[-1].text
    _open(noted, "Parcel 2 lies in Oslo")
    noted.press("Unpin")
    noted.told("Unpinned")
    expect(reflection.get_by_role("heading", name="Pinned")).to_have_count(0)
    site.world.say("Letter 7 is on its way.", resource=agent)
    site.world.observe_now(None, agent)
    reflects()
    expect(reflection).to_contain_text("Generation 2")
    assert pin.by
    assert "Parcel 2 lies in Oslo." in kept
    assert "Parcel 3" not in kept
    assert (site.world.om.pins(agent), "Parcel 2" in _read(site, agent)) == ([], False)
    assert site.world.om.verify() == []

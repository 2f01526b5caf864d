"""Lines by hand: added, corrected, taken back; a pinned one stands in what a forgetful model reflects, until it is let go."""

import re

import pytest
from playwright.sync_api import expect

from om_workers.llm.scripted import Scripted

FORGETFUL = "<observations>\nDate: Nov 20, 2026\n* 🟡 (09:00) Something else was talked about\n</observations>"


@pytest.fixture
def noted(site, at_work, agent):
    """The page of an agent all of whose words were observed."""
    site.world.om.force_observe(resource_id=agent)
    site.world.settle()
    expect(_region(at_work, "Observations")).to_contain_text("Parcel 4 lies in Oslo.")
    return at_work


@pytest.fixture
def reflects(site, agent):
    """Have a model that forgets everything reflect."""
    usual = site.world.model

    def forget():
        site.world.model = Scripted(*[FORGETFUL] * 8)
        site.world.om.force_reflect(agent)
        site.world.settle()

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


def test_a_line_is_corrected_and_its_correction_taken_back(site, noted, agent):
    dialog = _open(noted, "Parcel 2 lies in Oslo")
    field = dialog.get_by_label("It should say")
    field.fill(field.input_value().replace("Oslo", "Bergen"))
    noted.press("Save")
    noted.told("Corrected")
    expect(_region(noted, "Observations")).to_contain_text("Parcel 2 lies in Bergen.")
    corrected = _read(site, agent)
    noted.press("Take back what was done by hand")
    noted.told("Taken back")
    expect(_region(noted, "Observations")).to_contain_text("Parcel 2 lies in Oslo.")

    assert ("Parcel 2 lies in Bergen." in corrected, "Parcel 2 lies in Oslo." in corrected) == (True, False)
    assert "Parcel 2 lies in Oslo." in _read(site, agent)


def test_a_line_that_is_left_empty_goes_and_one_that_is_left_alone_stays(site, noted, agent):
    _open(noted, "Parcel 1 lies").get_by_label("It should say").fill("Never mind")
    noted.press("Cancel")
    expect(noted.page.get_by_role("dialog")).to_have_count(0)
    _open(noted, "Parcel 3 lies").get_by_label("It should say").fill("")
    noted.press("Save")
    noted.told("Corrected")
    expect(_region(noted, "Observations")).not_to_contain_text("Parcel 3")

    assert "Parcel 1 lies in Oslo." in _read(site, agent)
    assert "Parcel 3" not in _read(site, agent)


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
    site.world.om.force_observe(resource_id=agent)
    site.world.settle()
    reflects()
    expect(reflection).to_contain_text("Generation 2")

    assert pin.by
    assert "Parcel 2 lies in Oslo." in kept
    assert "Parcel 3" not in kept
    assert (site.world.om.pins(agent), "Parcel 2" in _read(site, agent)) == ([], False)
    assert site.world.om.verify() == []


def test_what_was_typed_is_never_dropped_by_pinning_what_the_line_was(noted):
    dialog = _open(noted, "Parcel 2 lies in Oslo")
    field, pin = dialog.get_by_label("It should say"), dialog.get_by_role("button", name="Pin as it was")
    was = field.input_value()
    field.fill(was.replace("Oslo", "Bergen"))
    expect(pin).to_be_disabled()
    field.fill(was)

    expect(pin).to_be_enabled()


def test_a_pin_is_let_go_where_it_stands(site, noted, agent):
    _open(noted, "Parcel 2 lies in Oslo")
    noted.press("Pin as it was")
    noted.told("until you unpin it under Reflection")
    _region(noted, "Reflection").get_by_role("button", name=re.compile("^Unpin: .*Parcel 2")).click()
    noted.told("Unpinned")

    assert site.world.om.pins(agent) == []


def test_a_line_of_the_reflection_is_corrected_as_a_generation_of_its_own(site, noted, agent, reflects):
    reflects()
    expect(_region(noted, "Reflection")).to_contain_text("Generation 1")
    field = _open(noted, "Something else").get_by_label("It should say")
    field.fill(field.input_value().replace("Something else", "A boat"))
    noted.press("Save")
    noted.told("Corrected")
    expect(_region(noted, "Reflection")).to_contain_text("A boat was talked about")

    assert [made.origin for made in site.world.om.generations(agent)][-1] == "correction"
    assert "A boat was talked about" in _read(site, agent)


def test_a_writer_adds_lines_and_changes_none(signed_in, noted, agent):
    visit = signed_in("writer", agent)
    visit.go(f"/ui/agents/{agent}")

    expect(visit.page.get_by_label("Add a line")).to_be_visible()
    expect(visit.page.get_by_role("button", name=re.compile("^Change or pin"))).to_have_count(0)
    expect(visit.page.locator("dialog")).to_have_count(0)

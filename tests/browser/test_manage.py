"""What an owner does rarely: erasing what was seen before, forgetting, moving, exporting and importing, removing."""

import re

import pytest
from playwright.sync_api import expect


@pytest.fixture
def manages(site, at_work, agent):
    """The page on which a memory with raw messages, observations and a generation is managed."""
    for n in (1, 2):
        site.world.say(f"The gate opens to cinnamon-{n}.", "It rains.", resource=agent, thread="t-1")
        site.world.observe_now(None, agent)
        if n == 1:
            site.world.reflect_now(agent)
    site.world.say("Try cinnamon-3.", "The sun shines.", resource=agent, thread="t-2")
    at_work.go(f"/ui/agents/{agent}/manage")
    return at_work


def _everywhere(visit, agent):
    """What all pages of an agent show."""
    shown = ""
    for page in ("", "?thread=t-2", "/context", "/generations", "/recall?query=gate+cinnamon", "/events", "/rejected"):
        assert visit.go(f"/ui/agents/{agent}{page}") == 200
        hits = visit.page.locator("main :not(mark):not(option)").all_inner_texts() if "recall" not in page else []
        shown += " ".join(hits or visit.page.locator("ol.hits").all_inner_texts())
    return shown


def test_what_would_go_is_seen_before_it_is_gone_from_every_page(site, manages, agent):
    line = next(line for line in site.world.om.observations(agent)[-1].text.split("\n") if "cinnamon-2" in line)
    site.world.om.pin(line, agent)
    held = _everywhere(manages, agent)
    manages.go(f"/ui/agents/{agent}/manage")
    manages.page.get_by_label("Whatever holds this text").fill("cinnamon")
    manages.press("Show what would go")
    would = manages.page.get_by_role("region", name="This would go")
    expect(would).to_contain_text("3 messages")
    expect(would.locator("li", has_text="of generation").locator("del")).to_contain_text(
        "The gate opens to cinnamon-1."
    )
    expect(would.locator("li", has_text="pinned no longer").locator("del")).to_contain_text("cinnamon-2")
    seen = "cinnamon-3" in site.world.context("t-2", agent).text
    manages.press("Erase it for good")
    manages.told("Erased from 3 messages")
    site.world.settle()
    left = _everywhere(manages, agent)
    manages.go(f"/ui/agents/{agent}/manage")
    manages.page.get_by_label("Whatever holds this text").fill("cinnamon")
    manages.press("Show what would go")
    expect(manages.page.get_by_role("region", name="This would go")).to_contain_text("Nothing of it is kept.")
    assert site.world.om.pins(agent) == []
    assert all(f"cinnamon-{n}" in held for n in (1, 2, 3))
    assert (seen, "cinnamon" in left) == (True, False)
    assert "The sun shines." in left
    assert b"cinnamon" not in b"".join(site.world.om.export_memory(agent))
    assert site.world.om.verify() == []


def test_a_memory_moves_to_the_other_scope_and_back(site, manages, agent):
    for button, scope, said in (("Move it to a memory for each thread", "thread", "each thread by itself"),
        ("Move it to one memory for all threads", "resource", "all threads together")):  # fmt: skip
        manages.answer()
        manages.press(button)
        manages.told(f"Moved to scope {scope}")
        expect(manages.page.locator("main")).to_contain_text(f"This memory covers {said}")
        assert site.world.om.stats(agent).scope == scope
    assert site.world.om.verify() == []


def test_an_exported_file_is_imported_as_another_agent(site, signed_in, manages, agent, tmp_path):
    with manages.page.expect_download() as begun:
        manages.page.get_by_role("link", name="Export the whole memory as a file").click()
    file = tmp_path / begun.value.suggested_filename
    begun.value.save_as(file)
    visit = signed_in()
    _import(visit, f"{agent}-2", file)
    visit.told("Imported: 2 messages, 1 observation, 1 generation.")
    expect(visit.page).to_have_url(f"{site.api.url}/ui/agents/{agent}-2")
    expect(visit.page.get_by_role("region", name="Reflection")).to_contain_text("cinnamon-1")
    assert file.name == f"{agent}.jsonl"
    assert site.world.context("t-1", f"{agent}-2").text == site.world.context("t-1", agent).text


def _import(visit, name, file):
    visit.go("/ui/agents#import")
    visit.page.get_by_label("As agent").fill(name)
    visit.page.get_by_label("File that was exported").set_input_files(file)
    visit.press("Import")


def test_a_thread_and_then_all_is_removed_once_its_name_was_written_again(site, manages, agent):
    manages.expect("422")
    _remove(manages, "t-2", "t-1")
    expect(manages.page.get_by_role("alert")).to_contain_text("write t-2 into the field; nothing was removed")
    held = len(site.world.covering(agent))
    manages.go(f"/ui/agents/{agent}/manage")
    _remove(manages, "t-2", "t-2")
    manages.told("Removed: 2 messages")
    left = len(site.world.covering(agent))
    manages.go(f"/ui/agents/{agent}/manage")
    _remove(manages, "", agent)
    manages.told("Removed:")
    expect(manages.page).to_have_url(re.compile("/ui/agents$"))
    expect(manages.page.get_by_role("link", name=agent, exact=True)).to_have_count(0)
    assert (held - left, site.world.covering(agent)) == (2, [])


def _remove(visit, thread, confirmed):
    visit.page.get_by_label("Only this thread").fill(thread)
    visit.page.get_by_label("once more").fill(confirmed)
    visit.press("Remove for good")

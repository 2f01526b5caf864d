"""Every page in a browser."""

import pytest
from page_routes import PAGES, Owner
from playwright.sync_api import expect

from browser.visiting import barriers, overflow


@pytest.mark.smoke
def test_somebody_signs_in_and_reads_what_an_agent_remembers(site, browsers, agent):
    """What goes wrong in the console, or is asked of another server, fails it too."""
    site.world.say(*(f"Parcel {n} lies in Oslo." for n in range(5)), resource=agent, thread="t-1")
    site.world.observe_now(None, agent)
    site.world.say("It rains.", resource=agent, thread="t-1")
    _, token = site.key("operator", agent, label="Ada's browser")
    visit = browsers(site.api.url)
    assert visit.go("/ui/agents") == 200
    visit.page.get_by_label("Key").fill(str(token))
    visit.page.keyboard.press("Enter")
    expect(visit.page.locator("header")).to_contain_text("Ada's browser · operator")
    visit.page.get_by_role("link", name=agent, exact=True).click()
    expect(visit.page.get_by_role("region", name="Observations")).to_contain_text("Parcel 4 lies in Oslo.")
    expect(visit.page.get_by_role("region", name="Raw messages")).to_contain_text("It rains.")
    expect(visit.page.locator("#live-state")).to_have_text("live")
    visit.press("Pause")
    visit.told("Paused")
    assert site.world.om.stats(agent).paused


def test_an_exported_file_is_imported_as_another_agent_which_is_moved_after_a_yes(site, signed_in, agent, tmp_path):
    site.world.say("The gate opens to cinnamon.", resource=agent, thread="t-1")
    site.world.observe_now(None, agent)
    visit = signed_in()
    visit.go(f"/ui/agents/{agent}/manage")
    with visit.page.expect_download() as begun:
        visit.page.get_by_role("link", name="Export the whole memory as a file").click()
    file = tmp_path / begun.value.suggested_filename
    begun.value.save_as(file)
    visit.go("/ui/agents#import")
    visit.page.get_by_label("As agent").fill(f"{agent}-2")
    visit.page.get_by_label("File that was exported").set_input_files(file)
    visit.press("Import")
    visit.told("Imported: 0 messages, 1 observation, 0 generations.")
    expect(visit.page).to_have_url(f"{site.api.url}/ui/agents/{agent}-2")
    assert file.name == f"{agent}.jsonl"
    assert site.world.context("t-1", f"{agent}-2").text == site.world.context("t-1", agent).text

    visit.go(f"/ui/agents/{agent}-2/manage")
    for yes, scope in ((False, "resource"), (True, "thread")):
        visit.page.once("dialog", lambda dialog, yes=yes: dialog.accept() if yes else dialog.dismiss())
        visit.press("Move it to a memory for each thread")
        if yes:
            visit.told("Moved to scope thread")
        assert site.world.om.stats(f"{agent}-2").scope == scope


LOOKS = {"light": {"color_scheme": "light"}, "dark": {"color_scheme": "dark"},
    "narrow": {"viewport": {"width": 360, "height": 740}, "color_scheme": "light"}}  # fmt: skip


@pytest.fixture(scope="module")
def full(site):
    """The pages, and an agent that has something for each of them."""
    return site, Owner(site.world, "harold")


@pytest.mark.parametrize("look", LOOKS)
def test_every_page_can_be_used_by_everybody(full, signed_in, look):
    visit, found = signed_in(**LOOKS[look]), {}
    _, owner = full
    for path in PAGES:
        asked = "?query=zanzibar" if path.endswith("/recall") else ""
        assert visit.go(owner.path(path, "harold") + asked) == 200, path
        found[path] = [*barriers(visit.page), *(["wider than its window"] if overflow(visit.page) > 0 else [])]
    assert {path: wrong for path, wrong in found.items() if wrong} == {}


@pytest.mark.parametrize("look", LOOKS)
def test_so_can_the_page_that_asks_for_a_key_and_one_that_is_not_there(site, browsers, signed_in, look):
    stranger, visit = browsers(site.api.url, **LOOKS[look]), signed_in(**LOOKS[look])
    visit.expect("404")
    assert stranger.go("/ui/agents") == 200
    assert stranger.page.title().startswith("Sign in")
    assert visit.go("/ui/agents/nobody") == 404
    for page in (stranger.page, visit.page):
        assert (barriers(page), overflow(page)) == ([], 0)

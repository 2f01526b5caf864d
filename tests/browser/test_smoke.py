"""The one journey that is made before every merge: sign in, and read an agent's memory."""

import pytest
from playwright.sync_api import expect


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

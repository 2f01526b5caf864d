"""Pages that stay open: they show what happens without being loaded again, whatever goes away meanwhile."""

import re
import time

import pytest
from playwright.sync_api import expect
from servers import Server

from browser.conftest import holding
from browser.serving import Site

BACK_MS = 120_000
AWAY = "ERR_|Failed to load|Failed to fetch|net::|50[0-9]"


@pytest.fixture
def alone(tmp_path, prefix):
    """A site whose store and server may be taken away."""
    store = Server(tmp_path / "store", "--appendonly", "yes", "--appendfsync", "always")
    with store, Site(tmp_path / "api", store.url, prefix) as site:
        yield store, site
        if not store.runs:
            store.start()


def _open(site, browsers, path):
    visit = holding(browsers(site.api.url), site, site.key()[1])
    visit.go(path)
    expect(visit.page.locator("#live-state")).to_have_text("live")
    visit.page.evaluate("window.sameAsBefore = true")
    return visit


def _is_same(visit):
    return visit.page.evaluate("window.sameAsBefore === true")


def test_what_is_pushed_and_observed_is_shown_without_a_reload(site, browsers, agent):
    site.world.say("The first word.", resource=agent)
    site.world.settle()
    visit = _open(site, browsers, f"/ui/agents/{agent}")
    site.world.say(*(f"Parcel {n} lies in Oslo." for n in range(14)), resource=agent)
    site.world.settle()
    observations = visit.page.get_by_role("region", name="Observations")
    expect(observations).to_contain_text("Parcel 3 lies in Oslo.")
    expect(visit.page.get_by_role("region", name="Raw messages")).to_contain_text("Parcel 13 lies in Oslo.")
    assert _is_same(visit)


def test_a_page_is_live_though_a_script_of_it_comes_late(site, browsers, agent):
    """Breaks when htmx begins before its extension is there: the page then never hears of anything."""
    site.world.say("The first word.", resource=agent)
    site.world.settle()
    visit = holding(browsers(site.api.url), site, site.key()[1])

    def late(route):
        time.sleep(1)
        route.continue_()

    visit.context.route("**/hx-sse.min.js*", late)
    visit.go(f"/ui/agents/{agent}")
    expect(visit.page.locator("#live-state")).to_have_text("live")


def test_a_page_that_is_open_while_its_key_is_revoked_goes_to_where_one_signs_in(site, browsers, agent):
    site.world.say("Mine.", resource=agent)
    key, token = site.key("reader", "*")
    visit = browsers(site.api.url)
    visit.expect("401|403|204|did not|ERR_")
    holding(visit, site, token).go(f"/ui/agents/{agent}")
    expect(visit.page.locator("#live-state")).to_have_text("live")
    site.ring.revoke(key.id)
    site.world.say("Said after that.", resource=agent)
    site.world.om.pause(agent)
    expect(visit.page).to_have_url(re.compile("/ui/sign-in"))
    assert "Said after that" not in visit.page.content()


@pytest.mark.parametrize("away", ["store", "server"])
def test_a_page_says_that_the_store_or_the_server_is_away_and_goes_on_when_it_is_back(alone, browsers, away):
    store, site = alone
    gone = store if away == "store" else site.api
    site.world.say("The first word.")
    site.world.settle()
    visit = _open(site, browsers, "/ui/agents/harold")
    visit.expect(AWAY)
    gone.stop()
    expect(visit.page.locator("#live-state")).to_have_text(re.compile(f"not live: the {away}"), timeout=BACK_MS)
    shown = visit.page.get_by_role("region", name="Raw messages").inner_text()
    gone.start()
    expect(visit.page.locator("#live-state")).to_have_text("live", timeout=BACK_MS)
    site.world.om.pause("harold")
    expect(visit.page.locator("dl.facts")).to_contain_text("paused", timeout=BACK_MS)
    assert "The first word." in shown
    assert _is_same(visit)

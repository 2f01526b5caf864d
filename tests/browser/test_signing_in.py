"""Signing in and out as somebody does it, and what becomes of a page that is open when it ends."""

import re

from playwright.sync_api import expect


def _sign_in(visit, token, path="/ui/agents"):
    visit.go(path)
    visit.page.get_by_label("Key").fill(str(token))
    visit.page.keyboard.press("Enter")


def test_whoever_signs_out_sees_nothing_more_in_any_tab(site, signed_in, agent):
    site.world.say("Mine.", resource=agent)
    visit = signed_in("reader", agent)
    other = visit.tab()
    other.goto(f"{site.api.url}/ui/agents/{agent}")
    visit.go("/ui/agents")
    visit.page.get_by_role("button", name="Sign out").click()
    expect(visit.page).to_have_url(re.compile("/ui/sign-in$"))
    other.reload()
    expect(other).to_have_url(re.compile(r"/ui/sign-in\?next="))
    assert visit.context.cookies() == []


def test_a_page_that_is_open_while_its_key_is_revoked_goes_to_where_one_signs_in(site, browsers, agent):
    site.world.say("Mine.", resource=agent)
    key, token = site.key("reader", "*")
    visit = browsers(site.api.url)
    visit.expect("401|403|204|did not|ERR_")
    _sign_in(visit, token, f"/ui/agents/{agent}")
    expect(visit.page.locator("#live-state")).to_have_text("live")
    site.ring.revoke(key.id)
    site.world.say("Said after that.", resource=agent)
    site.world.om.pause(agent)
    expect(visit.page).to_have_url(re.compile("/ui/sign-in"))
    assert "Said after that" not in visit.page.content()


def test_a_form_is_refused_that_another_sites_page_sends_by_this_browser(site, signed_in, agent):
    site.world.say("Mine.", resource=agent)
    visit = signed_in("operator", agent)
    visit.expect("403|asked elsewhere|Content Security")
    visit.go(f"/ui/agents/{agent}")
    page = visit.tab()
    there = f"{site.api.url}/ui/agents/{agent}/pause"
    page.route("http://elsewhere.example/**",
        lambda route: route.fulfill(content_type="text/html",
        body=f'<form method="post" action="{there}"><button>Win</button></form>'))  # fmt: skip
    page.goto("http://elsewhere.example/")
    page.get_by_role("button").click()
    page.wait_for_url(re.compile("/ui/"))
    assert not site.world.om.stats(agent).paused

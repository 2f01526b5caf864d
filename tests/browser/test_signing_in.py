"""Signing in and out as somebody does it, and what becomes of a page that is open when it ends."""

import re

import pytest
from playwright.sync_api import expect


def _sign_in(visit, token, path="/ui/agents"):
    visit.go(path)
    visit.page.get_by_label("Key").fill(str(token))
    visit.page.keyboard.press("Enter")


def test_a_key_opens_the_page_that_was_asked_for_and_is_kept_nowhere(site, browsers, agent):
    site.world.say("Mine.", resource=agent)
    _, token = site.key("reader", agent, label="Ada's browser")
    visit = browsers(site.api.url)
    _sign_in(visit, token, f"/ui/agents/{agent}")

    expect(visit.page).to_have_url(f"{site.api.url}/ui/agents/{agent}")
    expect(visit.page.locator("header")).to_contain_text("Ada's browser · reader")
    (cookie,) = visit.context.cookies()
    assert (cookie["name"], cookie["path"], cookie["httpOnly"], cookie["sameSite"]) == (
        "om_session",
        "/ui",
        True,
        "Strict",
    )
    assert visit.page.evaluate("document.cookie") == ""
    assert visit.page.evaluate("Object.keys({...localStorage, ...sessionStorage})") == []
    assert token.secret not in visit.page.content()


def test_a_wrong_key_is_told_so_and_asked_for_again(site, browsers):
    visit = browsers(site.api.url)
    visit.expect("403")
    _sign_in(visit, "om_0123456789ab_" + "x" * 43)

    expect(visit.page.get_by_role("alert")).to_contain_text("not known")
    expect(visit.page.get_by_label("Key")).to_be_focused()
    assert visit.context.cookies() == []


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


@pytest.mark.parametrize("role", ["reader", "writer", "operator"])
def test_a_role_sees_the_buttons_that_it_may_use(site, signed_in, agent, role):
    site.world.say("Mine.", resource=agent)
    visit = signed_in(role, agent)
    visit.go(f"/ui/agents/{agent}")
    found = set(visit.page.locator("main form.action button").all_inner_texts())

    assert (
        found
        == {
            "reader": set(),
            "writer": {"Observe now", "Reflect now", "Archive"},
            "operator": {"Observe now", "Reflect now", "Archive", "Pause"},
        }[role]
    )


def test_a_form_is_refused_that_another_sites_page_sends_by_this_browser(site, signed_in, agent):
    site.world.say("Mine.", resource=agent)
    visit = signed_in("operator", agent)
    visit.expect("403|asked elsewhere|Content Security")
    visit.go(f"/ui/agents/{agent}")
    page = visit.tab()
    there = f"{site.api.url}/ui/agents/{agent}/pause"
    page.route(
        "http://elsewhere.example/**",
        lambda route: route.fulfill(
            content_type="text/html", body=f'<form method="post" action="{there}"><button>Win</button></form>'
        ),
    )
    page.goto("http://elsewhere.example/")
    page.get_by_role("button").click()
    page.wait_for_url(re.compile("/ui/"))

    assert not site.world.om.stats(agent).paused

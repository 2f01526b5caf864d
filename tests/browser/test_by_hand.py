"""What buttons do, what the keyboard alone reaches, what hostile words become, whose clock times are of."""

import re

import pytest
from hostile import HALVES, HOSTILE
from playwright.sync_api import expect

RTL = "\u202eevil\u202c \u2066turned\u2069 عربى \u200f"
TRICKS = [*HOSTILE[:12], *(a + b for a, b in HALVES[:3]), "<script>window.broken = 1</script>",
    "<img src=x onerror='window.broken = 1'>", "</textarea></title></pre></script><svg/onload=window.broken=1>",
    "{{ 7 * 7 }} {% raw %} ${7*7} #{7*7}", '"><a href=javascript:window.broken=1>press</a>',
    "<div hx-get='/ui/agents' hx-trigger='load' hx-on:click='window.broken = 1'>htmx</div>",
    "data: x\n\nevent: om-change\ndata: y\n\n", RTL, "🔴🟡🟢 👩‍👩‍👧‍👦 🏳️‍🌈 é",
    "<b>" + "long" * 25_000 + "</b>"]  # fmt: skip


def _full(site, agent, texts):
    world = site.world
    for text in texts:
        world.say(text, resource=agent, thread="t-1")
    world.settle()
    world.observe_now(None, agent)
    world.reflect_now(agent)
    for text in texts:
        world.say(f"again: {text}", resource=agent, thread="t-1")
    world.settle()
    world.client.zadd(f"{world.prefix}:{{{agent}}}:messages:t-1", {f"no JSON {text[:500]}": 1 for text in texts})
    world.sweep()
    world.settle()


def test_hostile_words_are_shown_as_words_on_every_page(site, signed_in, agent):
    _full(site, agent, TRICKS)
    visit = signed_in()
    messages = site.world.om.messages(agent, "t-1")
    observation = site.world.om.observations(agent)[-1].id
    pages = ["", "/context", "/generations", "/rejected", "/events", "/recall?query=script+window+evil+press+htmx+long"]
    pages += [f"/messages/{messages[-1].id}?thread=t-1", f"/observations/{observation}"]
    seen = ""
    for page in pages:
        assert visit.go(f"/ui/agents/{agent}{page}") == 200
        visit.page.wait_for_timeout(300)
        assert visit.page.evaluate("typeof window.broken") == "undefined", page
        assert visit.page.locator("main script, main img, main a[href^=javascript]").count() == 0, page
        assert visit.page.evaluate("document.documentElement.scrollWidth <= innerWidth"), page
        seen += visit.page.locator("main").inner_text()
    for word in ("<script>window.broken = 1</script>", "<img src=x onerror=", "{{ 7 * 7 }}", "عربى", "🏳️‍🌈",
        "longlonglong"):  # fmt: skip
        assert word in seen


def test_the_keyboard_reaches_the_content_the_search_and_every_action(site, signed_in, agent):
    site.world.say("Mine.", resource=agent)
    visit = signed_in()
    keys = visit.page.keyboard
    visit.go(f"/ui/agents/{agent}")
    keys.press("Tab")
    expect(visit.page.get_by_role("link", name="Skip to the content")).to_be_focused()
    keys.press("Enter")
    expect(visit.page.locator("main")).to_be_focused()
    wanted, reached = visit.page.locator("main a, main button, main select, main summary").count(), set()
    for _ in range(3 * wanted):
        keys.press("Tab")
        reached.add(visit.page.evaluate("[...document.querySelectorAll('main *')].indexOf(document.activeElement)"))
    visit.go(f"/ui/agents/{agent}/recall")
    keys.press("/")
    expect(visit.page.get_by_role("searchbox")).to_be_focused()
    keys.type("mine/yours")
    assert len(reached - {-1}) >= wanted
    expect(visit.page.get_by_role("searchbox")).to_have_value("mine/yours")


@pytest.mark.parametrize(("zone", "hour"), [("Asia/Tokyo", "9:30"), ("America/New_York", "7:30"), ("UTC", "12:30")])
def test_times_are_those_of_the_viewers_clock(site, signed_in, agent, zone, hour):
    at = 1_767_270_600_000  # 12:30 in Greenwich on the first day of 2026
    site.world.say("Happy new year.", resource=agent, timestamp=at)
    visit = signed_in(timezone_id=zone, locale="en-US")
    visit.go(f"/ui/agents/{agent}")
    shown = visit.page.locator("#main .message time")
    expect(shown).to_contain_text(re.compile(rf"2026.*\b{hour}"))
    assert "12:30 UTC" in (shown.get_attribute("title") or "")

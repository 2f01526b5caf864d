"""What buttons do, what the keyboard alone reaches, what hostile words become, whose clock times are of."""

import re

import pytest
from hostile import HALVES, HOSTILE
from playwright.sync_api import expect

RTL = "\u202eevil\u202c \u2066turned\u2069 عربى \u200f"
TRICKS = [
    *HOSTILE[:12],
    *(a + b for a, b in HALVES[:3]),
    "<script>window.broken = 1</script>",
    "<img src=x onerror='window.broken = 1'>",
    "</textarea></title></pre></script><svg/onload=window.broken=1>",
    "{{ 7 * 7 }} {% raw %} ${7*7} #{7*7}",
    '"><a href=javascript:window.broken=1>press</a>',
    "<div hx-get='/ui/agents' hx-trigger='load' hx-on:click='window.broken = 1'>htmx</div>",
    "data: x\n\nevent: om-change\ndata: y\n\n",
    RTL,
    "🔴🟡🟢 👩‍👩‍👧‍👦 🏳️‍🌈 é",
    "<b>" + "long" * 25_000 + "</b>",
]


def _full(site, agent, texts):
    world = site.world
    for text in texts:
        world.say(text, resource=agent, thread="t-1")
    world.settle()
    world.om.force_observe(resource_id=agent)
    world.settle()
    world.om.force_reflect(agent)
    world.settle()
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

    for word in (
        "<script>window.broken = 1</script>",
        "<img src=x onerror=",
        "{{ 7 * 7 }}",
        "عربى",
        "🏳️‍🌈",
        "longlonglong",
    ):
        assert word in seen


@pytest.mark.parametrize("path", ["/recall?query={}", "/live?resource={}", "?did={}", "?thread={}", "/events?kind={}"])
def test_hostile_words_in_an_address_are_shown_as_words_or_refused(site, signed_in, agent, path):
    site.world.say("Mine.", resource=agent)
    visit = signed_in()
    visit.expect("4[0-9][0-9]")
    text = "%22%3E%3Cscript%3Ewindow.broken=1%3C/script%3E%3Cimg%20src=x%20onerror=window.broken=1%3E"
    status = visit.go((f"/ui/agents/{agent}" if path[:5] != "/live" else "/ui") + path.format(text))

    assert status in {200, 404, 422}
    assert visit.page.evaluate("typeof window.broken") == "undefined"
    assert visit.page.locator("main script, main img").count() == 0


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


def test_what_is_raw_is_observed_and_condensed_by_a_button(site, at_work, agent):
    at_work.press("Observe now")
    at_work.told("The workers were asked")
    site.world.settle()
    expect(at_work.page.get_by_role("region", name="Observations")).to_contain_text("Parcel 4 lies in Oslo.")
    expect(at_work.page.locator("p.done")).to_have_count(0)  # what was asked for is there
    at_work.press("Reflect now")
    at_work.told("The workers were asked to reflect")
    site.world.settle()

    expect(at_work.page.get_by_role("region", name="Reflection")).to_contain_text("Generation 1")
    assert site.world.om.stats(agent).generation == 1


def test_a_memory_is_paused_and_resumed_by_a_button(site, at_work, agent):
    at_work.press("Pause")
    at_work.told("Paused")
    paused = site.world.om.stats(agent).paused
    at_work.press("Resume")
    at_work.told("Resumed")

    assert (paused, site.world.om.stats(agent).paused) == (True, False)


def test_an_earlier_generation_is_brought_back_after_a_question(site, at_work, agent):
    for n in range(2):
        site.world.say(*(f"Letter {n}-{m} is on its way." for m in range(12)), resource=agent, thread="t-1")
        site.world.settle()
        site.world.om.force_reflect(agent)
        site.world.settle()
    first = site.world.om.generations(agent)[0].text
    at_work.go(f"/ui/agents/{agent}/generations?now=1")
    at_work.answer(yes=False)
    at_work.press("Bring generation 1 back")
    assert site.world.om.stats(agent).generation == 2
    at_work.answer()
    at_work.press("Bring generation 1 back")
    at_work.told("generation 1 is in force again")

    assert site.world.om.stats(agent).generation == 3
    assert site.world.om.generations(agent)[-1].text == first


def test_what_was_rejected_gets_another_chance_or_is_dropped(site, at_work, agent):
    key = f"{site.world.prefix}:{{{agent}}}:messages:t-1"
    site.client.zadd(key, {"no JSON at all": 1, "neither is this": 2})
    site.world.sweep()
    site.world.settle()
    at_work.go(f"/ui/agents/{agent}/rejected")
    expect(at_work.page.get_by_role("button", name="Drop", exact=True)).to_have_count(2)
    at_work.answer()
    at_work.page.get_by_role("button", name="Drop", exact=True).first.click()
    at_work.told("Dropped")
    dropped = len(site.world.om.rejected(agent))
    at_work.page.get_by_role("button", name="Try again").first.click()
    at_work.told(".")

    assert dropped == 1


def test_a_line_shows_the_messages_it_came_from_and_a_message_what_stands_for_it(site, at_work, agent):
    at_work.press("Observe now")
    site.world.settle()
    observations = at_work.page.get_by_role("region", name="Observations")
    observations.locator("summary").last.click()
    expect(observations.locator("#sources").last).to_contain_text("Parcel 0 lies in Oslo.")
    message = site.world.om.sources(site.world.om.observations(agent)[0].id, agent)[0].id
    at_work.go(f"/ui/agents/{agent}/messages/{message}?thread=t-1")

    expect(at_work.page.locator("main")).to_contain_text("It is read as observation")
    expect(at_work.page.locator(".message.lit")).to_contain_text("Parcel 0 lies in Oslo.")

"""Recall: what left the window is found by its words, with why; filters narrow it, and what finds nothing says what to do."""

import re
from datetime import UTC, datetime

import pytest
from playwright.sync_api import expect


@pytest.fixture
def recalls(site, signed_in, agent):
    """The page that looks up the words of an agent; some of them are behind an observation, and some from last year."""
    last_year = round(datetime(2025, 5, 5, 12, tzinfo=UTC).timestamp() * 1000)
    site.world.say("The passport lay in the attic.", resource=agent, thread="t-0", timestamp=last_year)
    site.world.say("My passport lies in the blue drawer.", "Rain.", resource=agent, thread="t-1")
    site.world.om.force_observe(resource_id=agent)
    site.world.settle()
    reply = {"role": "assistant", "content": "I noted where the passport is.", "tokens": 10}
    site.world.om.add_messages([reply], resource_id=agent, thread_id="t-2")
    site.world.settle()
    visit = signed_in("reader", agent)
    visit.go(f"/ui/agents/{agent}/recall")
    return visit


def _look_up(visit, query, **filters):
    visit.page.get_by_role("searchbox").fill(query)
    for name, value in filters.items():
        field = visit.page.locator(f"[name={name}]")
        field.select_option(value) if name in {"thread", "role", "kind"} else field.fill(value)
    visit.press("Look up")
    return visit.page.locator("ol.hits > li")


def test_a_hit_says_by_which_words_it_was_found_and_what_it_is_read_as(recalls, agent, site):
    hits = _look_up(recalls, "passport drawer")
    first = hits.first
    expect(first.locator("mark")).to_have_text(["passport", "drawer"])
    expect(first.locator(".note")).to_contain_text(re.compile(r"Found by .*drawer.* \(\d.*score \d"))
    read_as = site.world.om.observations(agent)[-1].id
    expect(first).to_contain_text(f"read as observation …{read_as[-10:]}")
    expect(hits.filter(has_text="I noted where")).to_contain_text("read as it was said")
    first.get_by_role("link", name="in its thread").click()

    expect(recalls.page.locator(".message.lit")).to_contain_text("My passport lies in the blue drawer.")


@pytest.mark.parametrize(
    ("filters", "says"),
    [
        ({}, ["blue drawer", "attic", "I noted"]),
        ({"thread": "t-1"}, ["blue drawer"]),
        ({"role": "assistant"}, ["I noted"]),
        ({"before": "2025-12-31"}, ["attic"]),
        ({"after": "2026-01-01"}, ["blue drawer", "I noted"]),
        ({"kind": "observation"}, ["attic", "blue drawer"]),
    ],
)
def test_filters_narrow_what_is_found_and_stay_as_they_were_set(recalls, filters, says):
    hits = _look_up(recalls, "passport", **filters)
    expect(recalls.page.locator("main p[role=status]")).to_contain_text(f"{len(says)} found")

    expect(hits).to_have_count(len(says))
    for each in says:
        expect(hits.filter(has=recalls.page.locator(".hit", has_text=each))).to_have_count(1)
    for name, value in filters.items():
        expect(recalls.page.locator(f"[name={name}]")).to_have_value(value)


def test_a_note_that_is_found_leads_to_where_it_stands(recalls):
    hit = _look_up(recalls, "passport attic", kind="observation").first
    expect(hit.locator(".said-by")).not_to_contain_text(re.compile("as it was said|· ·"))
    hit.get_by_role("link", name="observation …").click()

    expect(recalls.page.locator("main")).to_contain_text("The passport lay in the attic.")


def test_times_that_are_the_wrong_way_round_are_told_as_such(recalls):
    _look_up(recalls, "passport", after="2026-05-01", before="2026-04-01")

    expect(recalls.page.get_by_role("alert")).to_contain_text("exchange them")


@pytest.mark.parametrize(
    ("query", "says"), [("giraffe", "0 found"), ("passport -passport", "0 found"), ("!?", "0 found")]
)
def test_where_nothing_is_found_the_page_says_why(recalls, query, says):
    hits = _look_up(recalls, query)
    told = recalls.page.locator("main p[role=status]")

    expect(told).to_contain_text(re.compile(rf"{says}\. +\w{{3,}}"))
    expect(hits).to_have_count(0)


def test_a_filter_that_cannot_be_read_is_told_with_what_can(recalls):
    _look_up(recalls, "passport", after="someday")

    expect(recalls.page.get_by_role("alert")).to_contain_text("someday")
    expect(recalls.page.get_by_role("searchbox")).to_have_value("passport")


def test_what_has_no_room_on_a_page_stands_on_the_next_one(site, recalls, agent):
    site.world.say(*(f"Zebra {n} is striped." for n in range(13)), resource=agent, thread="t-9", tokens=1)
    site.world.settle()
    hits = _look_up(recalls, "zebra")
    expect(hits).to_have_count(10)
    seen = hits.locator(".hit").all_inner_texts()
    recalls.page.get_by_role("link", name="More").click()
    expect(hits).to_have_count(3)

    assert len({*seen, *hits.locator(".hit").all_inner_texts()}) == 13

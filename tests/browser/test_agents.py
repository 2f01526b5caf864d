"""The table of all agents: sorted by a column, of one state, searched, page after page, and of a key's own agents alone."""

import re

import pytest
from playwright.sync_api import expect

NAMES = [f"worker-{n:03}" for n in range(120)]
FULLEST, SECOND, PAUSED = "worker-077", "worker-033", ("worker-005", "worker-110")


@pytest.fixture(scope="module")
def fleet(site):
    """120 agents of whom two are paused, and two have more raw words than the others."""
    for name in NAMES:
        site.world.say("Mine.", resource=name, tokens=900 if name == FULLEST else 500 if name == SECOND else 10)
    site.world.settle()
    for name in PAUSED:
        site.world.om.pause(name)
    return site


@pytest.fixture
def table(fleet, signed_in):
    visit = signed_in()
    visit.go("/ui/agents")
    expect(visit.page.get_by_role("status").filter(has_text="of 120 agents")).to_be_visible()
    return visit


def _names(visit):
    return visit.page.locator("tbody tr td:first-child a").all_inner_texts()


def _sort(visit, title):
    visit.page.get_by_role("columnheader").get_by_role("link", name=re.compile(f"^{title}")).click()
    return visit.page.get_by_role("columnheader", name=re.compile(f"^{title}"))


def test_it_is_sorted_by_a_column_and_the_other_way_round(table):
    by_pressure = _names(table)
    column = _sort(table, "Agent")
    expect(column).to_have_attribute("aria-sort", "ascending")
    ascending = _names(table)
    column = _sort(table, "Agent")
    expect(column).to_have_attribute("aria-sort", "descending")

    assert by_pressure[:2] == [FULLEST, SECOND]
    assert ascending == NAMES[:50]
    assert _names(table) == NAMES[::-1][:50]
    expect(table.page.get_by_role("row", name=re.compile(FULLEST))).to_contain_text("90 %")


def test_one_state_is_shown_as_soon_as_it_was_chosen(table):
    table.page.get_by_label("State").select_option(label="paused (2)")
    expect(table.page.get_by_role("status").filter(has_text="2 of 120 agents")).to_be_visible()

    assert sorted(_names(table)) == [*PAUSED]
    expect(table.page.locator("tbody .state.bad", has_text="paused")).to_have_count(2)


def test_a_part_of_a_name_finds_agents_and_one_that_fits_nobody_shows_the_way_back(table):
    search = table.page.get_by_label("Part of a name")
    search.fill("ker-07")
    search.press("Enter")
    expect(table.page.get_by_role("status").filter(has_text="10 of 120 agents")).to_be_visible()
    found = sorted(_names(table))
    table.page.get_by_label("Part of a name").fill("nobody")
    table.page.get_by_label("Part of a name").press("Enter")
    expect(table.page.locator("main")).to_contain_text("None that fits")
    table.page.get_by_role("link", name="show all").click()
    expect(table.page.get_by_role("status").filter(has_text="120 of 120 agents")).to_be_visible()

    assert found == NAMES[70:80]


def test_every_agent_stands_on_one_page_and_the_order_stays(table):
    _sort(table, "Agent")
    seen = _names(table)
    for more in (50, 20):
        table.page.get_by_role("link", name="Next page").click()
        expect(table.page.locator("tbody tr")).to_have_count(more)
        seen += _names(table)

    assert seen == NAMES
    expect(table.page.get_by_role("link", name="Next page")).to_have_count(0)
    table.page.get_by_role("link", name="First page").click()
    expect(table.page.locator("tbody tr").first).to_contain_text(NAMES[0])


@pytest.mark.parametrize(("role", "imports"), [("reader", 0), ("operator", 1)])
def test_a_key_sees_its_own_agents_and_only_an_operator_imports_one(fleet, signed_in, role, imports):
    visit = signed_in(role, "worker-001", "worker-002")
    visit.go("/ui/agents")

    expect(visit.page.get_by_role("status").filter(has_text="2 of 2 agents")).to_be_visible()
    assert sorted(_names(visit)) == NAMES[1:3]
    expect(visit.page.get_by_role("button", name="Import")).to_have_count(imports)

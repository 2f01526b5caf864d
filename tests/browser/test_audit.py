"""Audit: who did what on these pages, refusals included, found by agent, by key and by verb; and never a word of any memory."""

import re

import pytest
from playwright.sync_api import expect

from browser.conftest import holding
from om_api.domain.audit.audit_entry import DID, AuditEntry

_ANY = re.compile(".*")


@pytest.fixture
def done(site, browsers, at_work, agent):
    """What Ada did on the pages of an agent, and what she was refused; the page that tells of it."""
    visit = holding(browsers(site.api.url), site, site.key("writer", agent, label="Ada's laptop")[1])
    visit.expect("403")
    visit.go(f"/ui/agents/{agent}")
    visit.page.get_by_label("Add a line").fill("The cinnamon secret")
    visit.press("Add")
    visit.told("Added")
    visit.go(f"/ui/agents/{agent}/settings")
    at_work.press("Pause")
    at_work.told("Paused")
    at_work.go("/ui/audit")
    return at_work


def _rows(visit):
    return visit.page.get_by_role("region", name="Entries").locator("tbody tr")


def test_it_tells_who_did_what_and_what_was_refused(site, done, agent):
    rows = _rows(done)
    adas = rows.filter(has_text="Ada's laptop")
    expect(rows.filter(has=done.page.get_by_role("cell", name=DID["paused"], exact=True))).to_have_count(1)
    expect(adas).to_have_count(4)
    expect(adas.nth(0).locator("td")).to_have_text(
        [_ANY, "Ada's laptop", "on a page", DID["read"], agent, "", "refused"]
    )
    for n, did, where, ended in (
        (1, "read", agent, "done"),
        (2, "line_added", f"{agent} t-1", "added"),
        (3, "read", agent, "done"),
    ):
        expect(adas.nth(n).locator("td")).to_have_text(
            [_ANY, "Ada's laptop", "on a page", DID[did], where, _ANY, ended]
        )

    expect(adas.nth(0).locator(".state.bad")).to_be_visible()
    expect(done.page.locator("main")).not_to_contain_text("cinnamon")
    told = site.world.om.audit(resource_id=[agent], did=["paused"]).entries
    assert [(each.via, each.did, each.outcome) for each in told] == [("page", "paused", "done")]


def test_it_is_narrowed_by_agent_key_and_verb(site, signed_in, done, agent):
    visit = signed_in()
    visit.go("/ui/audit")
    visit.page.get_by_label("Agent").fill(agent)
    visit.page.get_by_label("Agent").press("Enter")
    expect(_rows(visit).first).to_contain_text(agent)
    every = _rows(visit).count()
    visit.page.get_by_label("What").select_option("line_added")
    expect(_rows(visit)).to_have_count(1)
    ada = site.world.om.audit(resource_id=[agent], did=["line_added"]).entries[0].who
    visit.go(f"/ui/audit?resource={agent}&who={ada}")
    expect(_rows(visit)).to_have_count(4)
    visit.page.get_by_label("What").select_option("erased")

    expect(visit.page.locator("main")).to_contain_text("Nothing that fits is kept.")
    expect(visit.page.get_by_label("Key or user")).to_have_value(ada)
    assert every > 4


def test_older_entries_stand_on_the_next_page(site, signed_in, agent):
    for n in range(130):
        site.world.om.add_audit(AuditEntry(did="exported", via="cli", who="anna@ops", resource=agent, of=f"file-{n}"))
    visit = signed_in("operator", agent)
    visit.go("/ui/audit?did=exported")
    expect(_rows(visit)).to_have_count(100)
    newest = _rows(visit).first.inner_text()
    visit.page.get_by_role("link", name="Older").click()
    expect(_rows(visit)).to_have_count(30)

    assert "file-129" in newest
    expect(_rows(visit).last).to_contain_text("file-0")
    expect(_rows(visit).last).to_contain_text("anna@ops")

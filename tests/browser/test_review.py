"""Reviews: a reflection waits beside what is in force, and counts as it is, edited, or thought again with a comment."""

import re

import pytest
from playwright.sync_api import expect

from browser.serving import Site


@pytest.fixture(scope="module")
def site(server_url, tmp_path_factory):
    """A store whose reflections are reviewed, each of them."""
    folder = tmp_path_factory.mktemp("site")
    with Site(folder, server_url, f"pages-{folder.name}:om", OM_REFLECTION__REVIEW="ask") as started:
        yield started


@pytest.fixture
def waits(site, at_work, agent):
    """The page of an agent whose first reflection counts, and whose second one waits."""
    for n in (0, 1):
        site.world.say(f"Letter {n} is on its way.", resource=agent, thread="t-1")
        site.world.observe_now(None, agent)
        at_work.press("Reflect now")
        at_work.told("The workers were asked")
        site.world.settle()
        if not n:
            site.world.om.approve(agent)
    at_work.go(f"/ui/agents/{agent}/review")
    return at_work


def test_what_waits_is_listed_and_shown_word_for_word_beside_what_is_in_force(site, signed_in, waits, agent):
    waiting = site.world.om.proposal(agent)
    changes = waits.page.get_by_label("Changed text")
    listing = signed_in("reader", agent)
    listing.go("/ui/reviews")
    listing.page.get_by_role("link", name=agent).click()
    expect(listing.page).to_have_url(re.compile(f"/ui/agents/{agent}/review$"))
    waits.go(f"/ui/agents/{agent}")
    waits.page.get_by_role("link", name="waits for a review").click()
    expect(changes.locator("ins")).to_contain_text("Letter 1 is on its way.")
    expect(changes).to_contain_text("Parcel 4 lies in Oslo.")
    expect(changes.locator("del", has_text="Parcel")).to_have_count(0)
    expect(waits.page.get_by_label("Its text, which you may edit")).to_have_value(waiting.generation.text)
    expect(listing.page.get_by_role("button", name=re.compile("Approve|Send back"))).to_have_count(0)
    assert (site.world.om.stats(agent).generation, site.world.om.stats(agent).reviews) == (1, 1)


def test_it_is_thought_again_with_a_comment_and_waits_once_more(site, waits, agent):
    waiting = site.world.om.proposal(agent)
    waits.page.get_by_label("What is wrong with it").fill("Say where letter 1 <is> going.")
    waits.press("Send back")
    waits.told("Sent back: it is thought again")
    site.world.settle()
    again = site.world.om.proposal(agent)
    waits.go(f"/ui/agents/{agent}/review")
    expect(waits.page.get_by_label("Its text, which you may edit")).to_have_value(again.generation.text)
    assert again.id != waiting.id
    assert site.world.om.stats(agent).generation == 1
    assert "Say where letter 1" in repr(site.world.model.requests[-1])

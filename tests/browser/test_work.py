"""Work and models: what doctor finds stands there with its remedy until it is mended; models with their prices and prompts."""

import re

from playwright.sync_api import expect

from om_api.ops.prompt_texts import prompt_texts


def _about(visit, what):
    """What doctor finds about something."""
    return visit.page.locator("ul.plain li").filter(has=visit.page.locator("strong", has_text=re.compile(f"^{what}$")))


def test_what_doctor_finds_stands_with_its_remedy_until_it_is_mended(site, signed_in, agent):
    site.client.zadd(f"{site.world.prefix}:{{{agent}}}:messages:t-1", {"no JSON at all": 1})
    site.world.sweep()
    site.world.settle()
    visit = signed_in()
    visit.go("/ui/work")
    finding = _about(visit, "quarantine")
    expect(finding).to_contain_text(f"1 entry of {agent}")
    expect(finding).to_contain_text(f"read the reasons: om rejected list {agent}")
    expect(finding.locator(".state.bad")).to_have_text("warning")
    (entry,) = site.world.om.rejected(agent)
    site.world.om.drop_rejected(agent, entry.id)

    expect(finding).to_have_count(0)
    expect(visit.page.locator("ul.plain")).to_contain_text("nothing in quarantine")


def test_where_no_worker_lives_it_says_so_and_how_to_start_one(signed_in):
    visit = signed_in()
    visit.go("/ui/work")
    workers = visit.page.locator("ul.plain li").filter(
        has=visit.page.locator("strong", has_text=re.compile("^workers?$"))
    )

    expect(workers.locator(".state.bad")).to_be_visible()
    expect(workers.locator(".note")).to_contain_text("start")
    expect(visit.page.get_by_role("region", name="Workers")).to_contain_text("None lives: start one")


def test_work_that_is_due_is_counted_as_it_comes(site, signed_in, agent):
    visit = signed_in()
    visit.go("/ui/work")
    row = visit.page.get_by_role("region", name="What is due").get_by_role("row", name=re.compile("^observe"))
    before = int(row.locator("td").nth(1).inner_text()) + int(row.locator("td").nth(3).inner_text())
    site.world.say(*(f"Parcel {n} lies in Oslo." for n in range(12)), resource=agent)

    expect(row).to_have_text(re.compile(rf"^\s*observe\s*{before + 1}"))
    site.world.settle()


def test_a_model_in_use_stands_with_its_price_its_key_and_what_it_is_asked_with(signed_in):
    visit = signed_in()
    visit.go("/ui/models")
    row = visit.page.get_by_role("region", name="Models").get_by_role("row", name=re.compile("gemini-2.5-flash"))
    expect(row).to_contain_text(re.compile(r"input \$\d+\.\d\d"))
    expect(row).to_contain_text("everybody else as observer")
    expect(row).to_contain_text(re.compile("GEMINI_API_KEY (not )?set here"))
    prompt = prompt_texts()[0]
    details = visit.page.locator("details", has_text=f"{prompt.variant}: {prompt.name}").first
    details.locator("summary").click()

    expect(details.locator("pre")).to_contain_text(prompt.text[:200])

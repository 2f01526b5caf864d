"""Settings of an agent: seen before they are saved, in its file or in the store; in force at once, or refused at their field."""

import pytest
from playwright.sync_api import expect


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """Where the settings' files are."""
    made = tmp_path_factory.mktemp("config")
    (made / "observational-memory.yaml").write_text("observational_memory: {ttl_days: 9}")
    return made


@pytest.fixture
def file(folder, agent):
    return folder / "agents" / agent / "memory.yaml"


@pytest.fixture
def opened(at_work, agent):
    """The page of an agent's settings."""
    at_work.go(f"/ui/agents/{agent}/settings")
    return at_work


def _field(visit, key):
    return visit.page.locator(f'input[name="set.{key}"]')


def _ask(visit, **changed):
    """Have the page show what would change."""
    for key, value in changed.items():
        _field(visit, key).fill(value)
    visit.press("Show what would change")


def _row(visit, key):
    return visit.page.get_by_role("row").filter(has=_field(visit, key))


def test_a_change_is_seen_before_it_is_saved_in_the_agents_file(opened, file):
    expect(_row(opened, "ttl_days")).to_contain_text("observational-memory.yaml")
    _ask(opened, ttl_days="3")
    expect(opened.page.get_by_label("Changed file").locator("ins").last).to_have_text("+  ttl_days: 3")
    expect(opened.page.get_by_role("row", name="ttl_days 9 3")).to_be_visible()
    seen = file.exists()
    opened.press("Save")
    opened.told(f"Saved in {file}")
    expect(_field(opened, "ttl_days")).to_have_value("3")
    expect(_row(opened, "ttl_days")).to_contain_text(str(file))
    assert (seen, file.read_text()) == (False, "observational_memory:\n  ttl_days: 3\n")


def test_what_cannot_be_is_told_beside_its_field_and_nothing_is_saved(opened, file):
    opened.expect("422")
    groups = opened.page.locator("summary")
    for n in range(1, groups.count()):
        groups.nth(n).click()
    _ask(opened, **{"ttl_days": "0", "observer.timeout": "never", "timezone": "Asia/Tokyo"})
    told = opened.page.get_by_role("alert")
    expect(told).to_contain_text("ttl_days is 0; permitted: 1 to 36,500")
    for key, wrong, shown in (("ttl_days", "permitted: 1 to 36,500", "0"), ("observer.timeout", "90s, 5m", "never")):
        expect(_row(opened, key).locator(".problem")).to_contain_text(wrong)
        expect(_field(opened, key)).to_have_value(shown)
        expect(_field(opened, key)).to_have_attribute("aria-invalid", "true")
        expect(_field(opened, key)).to_be_visible()
    expect(_row(opened, "timezone").locator(".problem")).to_have_count(0)
    expect(_field(opened, "timezone")).to_have_value("Asia/Tokyo")
    expect(opened.page.get_by_role("button", name="Save")).to_have_count(0)
    assert not file.exists()


def test_what_somebody_else_changed_meanwhile_is_shown_again_before_it_is_saved(opened, file):
    _ask(opened, ttl_days="3")
    expect(opened.page.get_by_label("Changed file")).to_contain_text("+  ttl_days: 3")
    file.parent.mkdir(parents=True)
    file.write_text("observational_memory:\n  ttl_days: 5\n")
    opened.press("Save")
    expect(opened.page.get_by_label("Changed file").locator("del").last).to_have_text("-  ttl_days: 5")
    unsaved = file.read_text()
    opened.press("Save")
    opened.told("Saved in")
    assert ("ttl_days: 5" in unsaved, "ttl_days: 3" in file.read_text()) == (True, True)

"""A model is tried by a key press, and its answer comes while the page stays as it is."""

import pytest
from playwright.sync_api import expect
from trial_worker import READY, answer

from browser.visiting import barriers
from om_api.domain.errors import ModelError

MODEL = "gemini-2.5-flash"


@pytest.fixture
def tried(signed_in):
    """The page of models, its button, and where it tells what came of it."""
    visit = signed_in()
    visit.go("/ui/models")
    visit.page.evaluate("window.stays = true")
    button = visit.page.get_by_role("button", name=f"Try {MODEL}", exact=True)
    return visit, button, visit.page.locator("td", has=button).get_by_role("status")


def test_what_a_model_answers_comes_without_a_reload_and_the_keyboard_stays_where_it_was(site, tried):
    visit, button, status = tried
    for said, shown in ((READY, "It said: ready"), (ModelError("<b>refused</b> (401)"), "<b>refused</b> (401)")):
        button.focus()
        visit.page.keyboard.press("Enter")
        expect(status).to_contain_text("Asked: a worker makes the call")
        assert barriers(visit.page) == []

        assert answer(site.world, said)
        expect(status).to_contain_text(shown)
        expect(button).to_be_focused()
        assert barriers(visit.page) == []
    assert visit.page.evaluate("window.stays")
    visit.page.wait_for_timeout(1_500)
    assert status.locator("[hx-get]").count() == 0  # it looks no longer


def test_what_cannot_be_asked_for_is_told_beside_the_button(tried):
    visit, button, status = tried
    visit.expect("404")
    visit.page.locator(f'input[name=model][value="{MODEL}"]').evaluate("field => { field.value = 'gpt-mystery' }")
    button.click()

    expect(status).to_contain_text("no worker uses a model 'gpt-mystery'")
    assert visit.page.evaluate("window.stays")

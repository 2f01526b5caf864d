"""A model is tried by a key press, and its answer comes while the page stays as it is."""

from playwright.sync_api import expect
from trial_worker import READY, answer

from browser.visiting import barriers
from om_api.domain.errors import ModelError

MODEL = "gemini-2.5-flash"


def test_what_a_model_answers_comes_without_a_reload_and_the_keyboard_stays_where_it_was(site, signed_in):
    visit = signed_in()
    visit.go("/ui/models")
    visit.page.evaluate("window.stays = true")
    button = visit.page.get_by_role("button", name=f"Try {MODEL}", exact=True)
    status = visit.page.locator("td", has=button).get_by_role("status")
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

"""Every page, in light, in dark and on a narrow screen: no fault in the console, no barrier, nothing that sticks out."""

import pytest
from page_routes import PAGES, Owner

from browser.visiting import barriers, overflow

LOOKS = {"light": {"color_scheme": "light"}, "dark": {"color_scheme": "dark"},
    "narrow": {"viewport": {"width": 360, "height": 740}, "color_scheme": "light"}}  # fmt: skip


@pytest.fixture(scope="module")
def full(site):
    """The pages, and an agent that has something for each of them."""
    return site, Owner(site.world, "harold")


@pytest.mark.parametrize("look", LOOKS)
def test_every_page_can_be_used_by_everybody(full, signed_in, look):
    visit, found = signed_in(**LOOKS[look]), {}
    _, owner = full
    for path in PAGES:
        asked = "?query=zanzibar" if path.endswith("/recall") else ""
        assert visit.go(owner.path(path, "harold") + asked) == 200, path
        found[path] = [*barriers(visit.page), *(["wider than its window"] if overflow(visit.page) > 0 else [])]
    assert {path: wrong for path, wrong in found.items() if wrong} == {}


@pytest.mark.parametrize("look", LOOKS)
def test_so_can_the_page_that_asks_for_a_key_and_one_that_is_not_there(site, browsers, signed_in, look):
    stranger, visit = browsers(site.api.url, **LOOKS[look]), signed_in(**LOOKS[look])
    visit.expect("404")
    assert stranger.go("/ui/agents") == 200
    assert stranger.page.title().startswith("Sign in")
    assert visit.go("/ui/agents/nobody") == 404
    for page in (stranger.page, visit.page):
        assert (barriers(page), overflow(page)) == ([], 0)

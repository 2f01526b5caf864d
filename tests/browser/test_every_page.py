"""Every page, in light, in dark and on a narrow screen: no fault in the console, no barrier, nothing that sticks out."""

import pytest

from browser.visiting import barriers, overflow

NAME = "harold"
PAGES = [
    "/ui/agents",
    f"/ui/agents/{NAME}",
    f"/ui/agents/{NAME}/context",
    f"/ui/agents/{NAME}/generations",
    f"/ui/agents/{NAME}/recall?query=parcel+oslo",
    f"/ui/agents/{NAME}/events",
    f"/ui/agents/{NAME}/costs",
    f"/ui/agents/{NAME}/rejected",
    "/ui/work",
    "/ui/money",
    "/ui/live",
]
LOOKS = {
    "light": {"color_scheme": "light"},
    "dark": {"color_scheme": "dark"},
    "narrow": {"viewport": {"width": 360, "height": 740}, "color_scheme": "light"},
    "narrow and dark": {"viewport": {"width": 360, "height": 740}, "color_scheme": "dark"},
}


@pytest.fixture(scope="module")
def full(site):
    """An agent with something of everything: raw messages, a chunk, observations, generations, and what was rejected."""
    world = site.world
    for n in range(14):
        world.say(f"Parcel {n} lies in Oslo, in the blue house by the harbour.", thread="t-1")
        world.settle()
    for _ in range(2):
        world.om.force_reflect(NAME)
        world.settle()
        for n in range(12):
            world.say(f"Letter {n} is on its way to Bergen.", thread="t-2", tokens=200)
            world.settle()
    site.client.zadd(f"{world.prefix}:{{{NAME}}}:messages:t-1", {"no JSON at all": 1})
    world.sweep()
    world.settle()
    return site


@pytest.mark.parametrize("look", LOOKS)
def test_every_page_can_be_used_by_everybody(full, signed_in, look):
    visit = signed_in(**LOOKS[look])
    found = {}
    for path in PAGES:
        assert visit.go(path) == 200
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

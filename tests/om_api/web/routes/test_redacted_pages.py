"""Pages of an agent that is redacted: none of them shows what was planted."""

import pytest
from world import SMALL, World

from om_api import load_settings

SECRET = "ada@example.com"


@pytest.fixture
def settings(settings):
    named = {"OM_PREFIX": settings.prefix, "OM_REDIS_URL": settings.redis_url, "OM_REDACTION__BEFORE": "store"}
    return load_settings(None, {**SMALL, **named})


@pytest.fixture
def world(client, prefix):
    return World(client, prefix, redaction__before="store")


def test_no_page_shows_what_was_planted(sign_in, world):
    world.say(f"write to {SECRET}", f"or to {SECRET}")
    world.om.force_observe(None, "harold")
    world.settle()
    world.say(f"raw {SECRET}")
    world.om.set_thread("harold", "t-1", title=f"about {SECRET}")
    session = sign_in("operator", "harold")

    pages = [session.get(f"/ui/agents/harold{path}") for path in ("", "/context", "/recall?q=write", "/rejected")]
    assert {page.status_code for page in pages} == {200}
    assert any("[email]" in page.text for page in pages)
    assert not any(SECRET in page.text for page in pages)

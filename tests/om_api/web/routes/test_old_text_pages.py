"""The button that redacts what was stored before redaction was switched on."""

import pytest
from served import settings_of
from world import World

SECRET = "ada@example.com"


@pytest.fixture
def settings(settings):
    return settings_of(settings, redaction__before="store")


def test_what_was_stored_before_is_redacted_by_a_button_once_it_was_seen_how_much(sign_in, client, prefix):
    World(client, prefix).say(f"write to {SECRET}")
    session = sign_in("operator", "harold")
    would = session.send("/ui/agents/harold/redact", {})
    before = World(client, prefix).om.messages("harold", "t-1")[0].content
    done = session.send("/ui/agents/harold/redact", {"sure": "yes"})
    again = session.send("/ui/agents/harold/redact", {})

    assert "<li>1 email</li><li>messages: 1 place</li>" in would.text
    assert SECRET in before
    assert SECRET not in would.text + done.text
    assert World(client, prefix).om.messages("harold", "t-1")[0].content == "write to [email]"
    assert "There is nothing of it." in again.text

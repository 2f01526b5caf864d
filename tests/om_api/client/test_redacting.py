import pytest

from om_api import Message
from om_api.client.redacting import Redacting
from om_api.settings import load_settings

KEY = "0123456789abcdef"


@pytest.fixture
def redacting(store, monkeypatch):
    monkeypatch.setenv("A_KEY", KEY)
    named = {"OM_REDACTION__BEFORE": "store", "OM_REDACTION__KEY_ENV": "A_KEY", "OM_REDACTION__REVEAL": "true"}
    return Redacting(load_settings(None, named), store.keys)


def test_off_costs_no_step_and_no_look(store):
    off = Redacting(load_settings(None, {}), store.keys)
    message = Message(role="user", content="ada@example.com", resource_id="harold")
    assert off.message(message) is message
    off.prepared("harold", b"[email]")
    for steps in (
        off.kept("harold"),
        off.stored("harold", "ada@example.com"),
        off.words("harold", "[email 0123456789]"),
    ):
        assert list(steps) == []


def test_what_a_message_stands_for_is_kept_before_it_and_waits_until_it_is(store, redacting):
    made = redacting.message(Message(role="user", content="to ada@example.com", resource_id="harold"))
    redacting.prepared("harold", made.content.encode())
    steps = redacting.kept("harold")
    next(steps)
    steps.close()  # whoever was to send it died
    store.run(redacting.kept("harold"))
    assert store.run(redacting.words("harold", made.content)) == {made.content[4:-1]: "ada@example.com"}
    assert list(redacting.kept("harold")) == []


def test_a_value_that_is_stored_at_once_is_kept_with_it(store, redacting):
    said = store.run(redacting.stored("harold", {"to": ["ada@example.com"], "n": 1}))
    assert store.run(redacting.words("harold", [said])) == {said["to"][0][1:-1]: "ada@example.com"}
    assert store.run(redacting.words("joss", [said])) == {}


def test_an_item_is_redacted_by_whose_namespace_it_is_of(redacting):
    assert redacting.item("harold", {"mail": "ada@example.com"})["mail"].startswith("[email ")
    assert redacting.item("no id / at all", {"n": 1}) == {"n": 1}

"""What a message becomes before it is sent: checked, counted and encoded once, all of a batch before the first leaves."""

import time

import pytest
from configured import Folder
from configured import om as om_yaml
from world import SMALL

from om_api import InvalidInputError, Message, ObservationalMemory, load_settings
from om_api.client.core import Core
from om_api.client.redacting import Redacting

AT = 1_763_600_000_000
MESSAGE = {"role": "user", "thread_id": "t-1", "resource_id": "harold"}


@pytest.fixture
def writer():
    return Core(load_settings(None, SMALL), len).writing


def test_a_message_without_a_time_stands_behind_one_that_was_dated_just_ahead_of_now(writer):
    """Catches a turn that is added in the ms of the one before it, which their ids order then."""
    ahead = int(time.time() * 1000) + 5_000
    dated, undated = (writer.prepare(Message(content="hello", timestamp=at, **MESSAGE)) for at in (ahead, None))
    assert undated.message.at == dated.message.at + 1


def test_a_message_without_a_time_is_of_now_whatever_time_another_says(writer):
    ahead = Message(content="hello", timestamp="2100-01-01", **MESSAGE)
    before = [Message(content="hello", **MESSAGE) for _ in range(5)]
    ready = writer.prepare_all([*before, ahead, Message(content="hello", timestamp=AT, **MESSAGE), before[0]])
    at = [each.message.at for each in ready]

    assert at[4] < at[7] < at[5]


@pytest.fixture
def om():
    """A client that is refused before it asks any store."""
    return ObservationalMemory(load_settings(None, SMALL), client=object())


SAID = {"role": "user", "content": "hi"}


def test_what_is_no_list_of_messages_is_refused_with_what_is(om):
    """Catches a message alone that was taken for a list of its fields' names."""
    for given in [SAID, "hi", None, Message(role="user", content="hi")]:
        for send in (om.add_messages, lambda given: om.sync(given, "harold", "t-1")):
            with pytest.raises(InvalidInputError, match=r"messages must be a list of them, not .*role"):
                send(given)


def test_who_names_no_place_is_told_how(om):
    for missing in ("thread_id", "resource_id"):
        place = {"thread_id": "t-1", "resource_id": "harold"}
        with pytest.raises(InvalidInputError, match=f"{missing} of message .* is missing: pass {missing}="):
            om.add_message(SAID, **{name: value for name, value in place.items() if name != missing})


KEY = "0123456789abcdef" * 2


@pytest.fixture
def redacting(store, monkeypatch):
    monkeypatch.setenv("OM_SECRET_A", KEY)
    named = {"OM_REDACTION__BEFORE": "store", "OM_REDACTION__KEY_ENV": "OM_SECRET_A", "OM_REDACTION__REVEAL": "true"}
    return Redacting(load_settings(None, named), store.keys)


def test_item_is_redacted_by_the_settings_of_the_name_in_its_label(store, tmp_path):
    folder = Folder(tmp_path)
    for agent, before in (("store", "off"), ("auth0+_7C1", "model"), ("harold", "off"), ("x*", "off")):
        folder.agent(agent, om_yaml(f"redaction: {{before: {before}}}"))
    folder.settings("redaction: {before: store}")
    redacting, value = Redacting(folder.load(), store.keys), "to ada@example.com"
    written = {label: redacting.item(label, value) == value for label in ("auth0|2", "auth0|1", "x|" * 200, "harold")}
    assert written == {"auth0|2": False, "auth0|1": True, "x|" * 200: True, "harold": True}
    assert redacting.item("auth0+_7C1", value) != value  # its id is auth0+_2B_7C1


def test_what_a_message_stands_for_is_kept_before_it_and_waits_until_it_is(store, redacting):
    made = redacting.message(Message(role="user", content="to ada@example.com", resource_id="harold"))
    redacting.prepared("harold", made.content.encode())
    steps = redacting.kept("harold")
    next(steps)
    steps.close()  # whoever was to send it died
    store.run(redacting.kept("harold"))
    assert store.run(redacting.words("harold", made.content)) == {made.content[4:-1]: "ada@example.com"}
    assert list(redacting.kept("harold")) == []

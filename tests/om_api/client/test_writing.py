"""What a message becomes before it is sent: checked, counted and encoded once, all of a batch before the first leaves."""

import json
import time

import pytest
from world import SMALL

from om_api import InvalidInputError, Message, ObservationalMemory, load_settings
from om_api.client import writing
from om_api.client.core import Core
from om_api.domain.wire import encode_message

AT = 1_763_600_000_000
MESSAGE = {"role": "user", "thread_id": "t-1", "resource_id": "harold"}


@pytest.fixture
def writer():
    return Core(load_settings(None, SMALL), len).writing


def replied(steps, *reply):
    """What steps asked first, and what they return once they were answered."""
    asked = next(steps)
    with pytest.raises(StopIteration) as end:
        steps.send(list(reply))
    return asked, end.value.value


def test_what_is_sent_are_the_bytes_that_the_message_would_be_written_as(writer):
    (ready,) = writer.prepare_all([Message(content="hello", **MESSAGE)])

    assert ready.member == encode_message(ready.message)
    assert json.loads(ready.member) == {
        **MESSAGE,
        "id": ready.message.id,
        "content": "hello",
        "timestamp": ready.message.at,
        "tokens": 9,
    }


def test_a_message_is_encoded_once_on_its_way(writer, monkeypatch):
    encoded = []
    monkeypatch.setattr(
        writing, "encode_message", lambda message: encoded.append(message.id) or encode_message(message)
    )
    asked, receipt = replied(
        writer.send(writer.prepare_all([Message(content="hello", **MESSAGE)])), writer._clock.ms(), b"harold"
    )

    assert encoded == list(receipt.ids)
    members = [word for word in asked.args if isinstance(word, bytes) and word.startswith(b'{"')]
    assert [json.loads(word)["id"] for word in members] == list(receipt.ids)


def test_the_writers_own_message_is_left_as_it_was(writer):
    message = Message(content="hello", **MESSAGE)
    ready = writer.prepare(message)

    assert (message.id, message.tokens, message.timestamp, message.at) == ("", None, None, 0)
    assert ready.message.id


def test_messages_of_one_thread_without_a_time_keep_their_order(writer):
    ready = writer.prepare_all(Message(content=str(n), **MESSAGE) for n in range(50))
    times = [each.message.at for each in ready]

    assert times == sorted(set(times))


def test_messages_of_one_moment_keep_their_order(writer):
    moments = [AT, AT, AT + 1, AT + 60_000, AT - 5_000]
    ready = writer.prepare_all([Message(content="hello", timestamp=at, **MESSAGE) for at in moments])

    assert [each.message.at - AT for each in ready] == [0, 1, 2, 60_000, -5_000]


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


@pytest.mark.parametrize("where", ["metadata", "part"])
def test_what_cannot_be_written_is_refused_by_the_id_it_was_given(writer, where):
    """A part is encoded when it is counted, metadata when the message is."""
    part = {"type": "tool-call", "tool_call_id": "c-1", "name": "f", "args": object() if where == "part" else {}}
    metadata = {"never": object()} if where == "metadata" else None
    message = Message(content=[part], id="m-7", metadata=metadata, **MESSAGE)

    with pytest.raises(InvalidInputError, match=r"^messages\[1\]: message m-7: cannot be written as JSON: .*; nothing"):
        writer.prepare_all([Message(content="fine", **MESSAGE), message])


def test_a_message_that_was_spoilt_after_it_was_made_is_checked_again(writer):
    message = Message(content="hello", **MESSAGE)
    message.role = "robot"

    with pytest.raises(InvalidInputError, match="role 'robot' is none of"):
        writer.prepare_all([message])


@pytest.fixture
def om():
    """A client that is refused before it asks any store."""
    return ObservationalMemory(load_settings(None, SMALL), client=object())


SAID = {"role": "user", "content": "hi"}


@pytest.mark.parametrize("given", [SAID, "hi", b"hi", None, 5, Message(role="user", content="hi")], ids=repr)
def test_what_is_no_list_of_messages_is_refused_with_what_is(om, given):
    """Catches a message alone that was taken for a list of its fields' names."""
    for send in (lambda: om.add_messages(given), lambda: om.sync(given, "harold", "t-1")):
        with pytest.raises(InvalidInputError, match=r"messages must be a list of them, not .*role"):
            send()


@pytest.mark.parametrize("given", [None, "hi", 5, {"a"}])
def test_what_is_no_message_is_refused_with_what_is(om, given):
    for send in (lambda: om.add_messages([given]), lambda: om.sync([given], "harold", "t-1")):
        with pytest.raises(InvalidInputError, match=r"messages\[0\]: it must be a Message, .*\{\"role\""):
            send()


@pytest.mark.parametrize("missing", ["thread_id", "resource_id"])
def test_who_names_no_place_is_told_how(om, missing):
    place = {"thread_id": "t-1", "resource_id": "harold"}
    with pytest.raises(InvalidInputError, match=f"{missing} of message .* is missing: pass {missing}="):
        om.add_message(SAID, **{name: value for name, value in place.items() if name != missing})

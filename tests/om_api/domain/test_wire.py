"""The bytes of a message: what any language wrote is read, and what we write is read back."""

import json

import pytest

from om_api import InvalidInputError, Message
from om_api.domain.wire import MAX_DEPTH, derived_id, encode_message, message_of, parse_member

AT = 1_763_600_000_000


def read(member):
    return parse_member(member if isinstance(member, bytes) else json.dumps(member).encode(), "t-1", "harold", AT)


def test_what_we_write_is_read_back_and_when_it_is_ordered_by_is_no_part_of_it():
    message = Message(
        role="user", content="hello", id="m-1", thread_id="t-1", resource_id="harold", tokens=9, timestamp=AT, at=AT
    )

    assert read(encode_message(message)) == message
    assert b'"at"' not in encode_message(message)
    assert message.at == AT


def test_camel_case_is_read_and_our_own_names_win():
    found = read({"role": "user", "content": [{"type": "tool-call", "toolCallId": "c"}], "tokenCount": 3, "tokens": 4})

    assert found.content == [{"type": "tool-call", "tool_call_id": "c"}]
    assert found.tokens == 4


def test_the_keys_thread_and_resource_win_and_what_cannot_be_is_left_out():
    given = {
        "role": "user",
        "content": "",
        "id": "",
        "thread_id": "x",
        "timestamp": "soon",
        "tokens": -1,
        "metadata": [],
    }
    found = read(given)

    assert (found.thread_id, found.resource_id, found.at) == ("t-1", "harold", AT)
    assert (found.timestamp, found.tokens, found.metadata) == (None, None, None)
    assert found.id == derived_id(json.dumps(given).encode())


@pytest.mark.parametrize(("name", "kept"), [("m-1", "m-1"), (7, "7"), (0, "0")])
def test_an_id_may_be_a_number(name, kept):
    given = {"role": "user", "content": "", "id": name}

    assert read(given).id == message_of(given).id == kept


@pytest.mark.parametrize(
    ("said", "timestamp"),
    [
        ({"created_at": 1741165200}, 1741165200),
        ({"created_at": "2025-03-04T09:15:00Z", "timestamp": "2025-03-05"}, "2025-03-05"),
        ({"created_at": "2025-03-04T09:15:00Z", "timestamp": None}, "2025-03-04T09:15:00Z"),
        ({"created_at": "soon"}, None),
    ],
)
def test_a_message_may_say_when_it_was_created(said, timestamp):
    given = {"role": "user", "content": "x", **said}

    assert read(given).timestamp == message_of(given).timestamp == timestamp


@pytest.mark.parametrize(
    ("given", "told"),
    [
        ({"role": "user", "contnt": "x"}, "it has role, contnt"),
        ({"id": "chatcmpl-1", "choices": []}, r"reply\.choices\[0\]\.message"),
        ({"role": "tool", "output": "x"}, "it has role, output"),
        ({}, "it has nothing"),
    ],
)
def test_what_has_no_content_is_told_what_it_has_or_where_a_reply_has_its_message(given, told):
    with pytest.raises(InvalidInputError, match=told):
        message_of(given)


@pytest.mark.parametrize("name", [True, None, [], ""])
def test_what_is_no_id_is_replaced_by_one_made_of_the_bytes(name):
    assert read({"role": "user", "content": "", "id": name}).id.startswith("h-")


@pytest.mark.parametrize(
    ("member", "says"),
    [
        (b"{", "not JSON"),
        (b"\xff", "not JSON"),
        (b"[]", "not a JSON object"),
        (b'{"role":"user"}', "content must be text or a list of parts"),
        (b'{"role":"user","content":"","x":' + b"[" * MAX_DEPTH + b"]" * MAX_DEPTH + b"}", "it nests deeper than 100"),
    ],
)
def test_a_member_that_is_no_message_says_why(member, says):
    with pytest.raises(InvalidInputError, match=says):
        read(member)


def test_brackets_within_texts_are_no_depth():
    assert read({"role": "user", "content": '[{"' * MAX_DEPTH}).content == '[{"' * MAX_DEPTH


def test_what_cannot_be_written_is_refused():
    with pytest.raises(InvalidInputError, match="message m-1: cannot be written as JSON"):
        encode_message(Message(role="user", content="", id="m-1", metadata={"a": object()}))
    with pytest.raises(InvalidInputError, match=r"message \(without id\): cannot be written as JSON"):
        encode_message(Message(role="user", content="half a character: \ud800"))

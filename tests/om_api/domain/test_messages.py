"""A message says what is wrong with it, once when it is made and once more when it is added."""

import json
from datetime import UTC, datetime

import pytest

from om_api import InvalidInputError, Message
from om_api.domain.messages import MAX_TOKENS, is_token_count
from om_api.domain.nesting import MAX_DEPTH
from om_api.domain.wire import derived_id, encode_message, message_of, parse_member


def test_a_message_refuses_what_no_reader_could_rely_on_and_a_datetime_becomes_text_and_chat_calls_become_parts():
    for field, value, says in [
        ("role", "robot", "role 'robot' is none of user, assistant, system, tool, developer, function, model"),
        ("id", "a b", "its id must be a text of 1 to 200 of"), ("id", 7, "its id must be a text"),
        ("tokens", -1, "tokens must be a whole number between 0 and 10,000,000"),
        ("tokens", True, "tokens must be a whole number"),
        ("timestamp", "soon", "timestamp 'soon' is neither ISO 8601 nor Unix time"),
        ("content", 5, "content must be text or a list of parts, not int"),
        ("content", [{"type": "text"}], "a text part needs a text"),
        ("content", [{"type": "text", "text": ""}, 7], "a part is a text or an object, not '7'"),
    ]:  # fmt: skip
        with pytest.raises(InvalidInputError, match=r"^message (7|a b|\(without id\)): ") as refused:
            Message(**{"role": "user", "content": "hello", field: value})
        assert says in str(refused.value), (field, value, says)
    for value, believed in ((0, True), (MAX_TOKENS, True), (MAX_TOKENS + 1, False), (1.0, False)):
        assert is_token_count(value) is believed, (value, believed)
    at = datetime(2026, 1, 2, tzinfo=UTC)
    call = {"id": "c-1", "function": {"name": "look", "arguments": '{"at": 1}'}}
    message = Message(role="assistant", content="let me see", timestamp=at, tool_calls=[call])
    assert message.timestamp == at.isoformat()
    assert message.tool_calls is None
    assert message.text() == "let me see"
    assert message.parts[1] == {"type": "tool-call", "tool_call_id": "c-1", "name": "look", "args": {"at": 1}}


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


def test_parse_member_reads_camel_case_and_prefers_our_own_names():
    found = read({"role": "user", "content": [{"type": "tool-call", "toolCallId": "c"}], "tokenCount": 3, "tokens": 4})
    assert found.content == [{"type": "tool-call", "tool_call_id": "c"}]
    assert found.tokens == 4
    given = {"role": "user", "content": "", "thread_id": "x", "timestamp": "soon", "tokens": -1, "metadata": []}
    found = read(given)
    assert (found.thread_id, found.resource_id, found.at) == ("t-1", "harold", AT)
    assert (found.timestamp, found.tokens, found.metadata) == (None, None, None)
    assert found.id == derived_id(json.dumps(given).encode())


def test_a_message_may_have_a_number_for_an_id_and_say_when_it_was_created():
    for name, kept in (("m-1", "m-1"), (7, "7"), (0, "0")):
        given = {"role": "user", "content": "", "id": name}
        assert read(given).id == message_of(given).id == kept, (name, kept)
    for name in (True, None, [], ""):
        assert read({"role": "user", "content": "", "id": name}).id.startswith("h-"), name
    for said, timestamp in [
        ({"created_at": 1741165200}, 1741165200),
        ({"created_at": "2025-03-04T09:15:00Z", "timestamp": "2025-03-05"}, "2025-03-05"),
        ({"created_at": "2025-03-04T09:15:00Z", "timestamp": None}, "2025-03-04T09:15:00Z"),
        ({"created_at": "soon"}, None),
    ]:  # fmt: skip
        given = {"role": "user", "content": "x", **said}
        assert read(given).timestamp == message_of(given).timestamp == timestamp, (said, timestamp)


def test_what_is_no_message_is_refused_with_the_reason():
    for given, told in [
        ({"role": "user", "contnt": "x"}, "it has role, contnt"),
        ({"id": "chatcmpl-1", "choices": []}, r"reply\.choices\[0\]\.message"),
        ({"role": "tool", "output": "x"}, "it has role, output"), ({}, "it has nothing"),
    ]:  # fmt: skip
        with pytest.raises(InvalidInputError, match=told):
            message_of(given)
    for member, says in [
        (b"{", "not JSON"), (b"\xff", "not JSON"), (b"[]", "not a JSON object"),
        (b'{"role":"user"}', "content must be text or a list of parts"),
        (b'{"role":"user","content":"","x":' + b"[" * MAX_DEPTH + b"]" * MAX_DEPTH + b"}", "it nests deeper than 100"),
    ]:  # fmt: skip
        with pytest.raises(InvalidInputError, match=says):
            read(member)
    with pytest.raises(InvalidInputError, match="message m-1: cannot be written as JSON"):
        encode_message(Message(role="user", content="", id="m-1", metadata={"a": object()}))
    with pytest.raises(InvalidInputError, match=r"message \(without id\): cannot be written as JSON"):
        encode_message(Message(role="user", content="", metadata={"a": object()}))

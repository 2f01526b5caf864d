"""A message says what is wrong with it, once when it is made and once more when it is added."""

from datetime import UTC, datetime

import pytest

from om_api import InvalidInputError, Message
from om_api.domain.messages import MAX_TOKENS, is_token_count, part_problem


@pytest.mark.parametrize(
    ("field", "value", "says"),
    [
        ("role", "robot", "role 'robot' is none of user, assistant, system, tool, developer, function, model"),
        ("id", "a b", "its id must be a text of 1 to 200 of"),
        ("id", 7, "its id must be a text"),
        ("tokens", -1, "tokens must be a whole number between 0 and 10,000,000"),
        ("tokens", True, "tokens must be a whole number"),
        ("timestamp", "soon", "timestamp 'soon' is neither ISO 8601 nor Unix time"),
        ("content", 5, "content must be text or a list of parts, not int"),
        ("content", [{"type": "text"}], "a text part needs a text"),
        ("content", [{"type": "text", "text": ""}, 7], "a part is a text or an object, not '7'"),
    ],
)
def test_the_first_thing_that_no_reader_could_rely_on_is_said(field, value, says):
    with pytest.raises(InvalidInputError, match=r"^message (7|a b|\(without id\)): ") as refused:
        Message(**{"role": "user", "content": "hello", field: value})

    assert says in str(refused.value)


def test_a_datetime_becomes_text_and_chat_calls_become_parts():
    at = datetime(2026, 1, 2, tzinfo=UTC)
    call = {"id": "c-1", "function": {"name": "look", "arguments": '{"at": 1}'}}
    message = Message(role="assistant", content="let me see", timestamp=at, tool_calls=[call])

    assert message.timestamp == at.isoformat()
    assert message.tool_calls is None
    assert message.text() == "let me see"
    assert message.parts[1] == {"type": "tool-call", "tool_call_id": "c-1", "name": "look", "args": {"at": 1}}


def test_a_text_has_one_part():
    message = Message(role="user", content="hello")

    assert message.parts == [{"type": "text", "text": "hello"}]


@pytest.mark.parametrize(("value", "believed"), [(0, True), (MAX_TOKENS, True), (MAX_TOKENS + 1, False), (1.0, False)])
def test_only_whole_numbers_that_can_be_are_believed_as_tokens(value, believed):
    assert is_token_count(value) is believed


def test_a_part_of_another_kind_needs_no_text():
    assert part_problem({"type": "image"}) is None

"""A vendor's message becomes ours, whole: its role, its content, the calls beside it; and what is ours already stays."""

import pytest

from om_api.domain.errors import InvalidInputError
from om_api.domain.messages import Message
from om_api.domain.vendors.message import to_wire
from om_api.domain.wire import message_of

CALL = {"id": "c-1", "function": {"name": "look", "arguments": '{"at": 1}'}}
PART = {"type": "tool-call", "tool_call_id": "c-1", "name": "look", "args": {"at": 1}}
NAMELESS = {"type": "tool-call", "name": "look", "args": {"at": 1}}
RESULT = {"type": "tool-result", "tool_call_id": "c-1", "result": "found", "is_error": False}
TEXT = {"type": "text", "text": "let me see"}
NO = {"type": "text", "text": "no"}
FUNCTION = {"role": "function", "name": "look", "content": "found"}


@pytest.mark.parametrize(
    ("given", "role", "content"),
    [
        ({"role": "developer", "content": "be kind"}, "system", "be kind"),
        ({"role": "assistant", "content": None, "refusal": "no"}, "assistant", "no"),
        ({"role": "assistant", "content": "let me see", "refusal": "no"}, "assistant", [TEXT, NO]),
        ({"role": "assistant", "content": None}, "assistant", ""),
        ({"role": "model", "parts": None}, "assistant", ""),
        ({"role": "user", "parts": None}, "user", ""),
        ({"role": "assistant", "content": "x", "tool_calls": {}}, "assistant", "x"),
        ({"role": "assistant", "content": None, "audio": {"id": "a-1", "transcript": "aloud"}}, "assistant", "aloud"),
        ({"role": "assistant", "content": None, "tool_calls": [CALL]}, "assistant", [PART]),
        ({"role": "assistant", "content": "let me see", "tool_calls": [CALL]}, "assistant", [TEXT, PART]),
        ({"role": "assistant", "content": [TEXT], "tool_calls": [CALL]}, "assistant", [TEXT, PART]),
        ({"role": "assistant", "content": None, "function_call": CALL["function"]}, "assistant", [NAMELESS]),
        (FUNCTION, "tool", [{"type": "tool-result", "name": "look", "result": "found", "is_error": False}]),
        ({"role": "tool", "tool_call_id": "c-1", "content": "found"}, "tool", [RESULT]),
        ({"role": "tool", "tool_call_id": "c-1", "content": None}, "tool", [{**RESULT, "result": ""}]),
        (
            {"role": "tool", "tool_call_id": "c-1", "content": [TEXT], "name": "look"},
            "tool",
            [{**RESULT, "name": "look", "result": "let me see"}],
        ),
        (
            {"type": "message", "role": "user", "content": [{"type": "input_text", "text": "let me see"}]},
            "user",
            [TEXT],
        ),
        ({"type": "function_call", "call_id": "c-1", "name": "look", "arguments": '{"at": 1}'}, "assistant", [PART]),
        ({"type": "function_call_output", "call_id": "c-1", "output": "found"}, "tool", [RESULT]),
        ({"type": "web_search_call", "status": "done"}, "assistant", [{"type": "web_search_call", "status": "done"}]),
        ({"type": "computer_call_output", "output": 4}, "tool", [{"type": "computer_call_output", "output": 4}]),
        (
            {"type": "mcp_approval_response", "approve": True},
            "user",
            [{"type": "mcp_approval_response", "approve": True}],
        ),
        ({"role": "model", "parts": [{"text": "let me see"}]}, "assistant", [TEXT]),
        ({"parts": [{"text": "let me see"}]}, "user", [TEXT]),
    ],
)
def test_what_vendors_write_is_written_our_way(given, role, content):
    made = message_of(given)

    assert (made.role, made.content) == (role, content)
    assert message_of({"role": made.role, "content": made.content}).content == content
    assert (made.tool_calls, made.tool_call_id, made.name) == (None, None, None)


def test_what_is_ours_already_stays_as_it_is():
    ours = {"role": "assistant", "content": [TEXT, PART], "id": "m-1", "tokens": 7, "name": "Ada"}

    assert to_wire(ours) is ours
    assert Message(**ours).content is ours["content"]
    assert Message(**ours).name == "Ada"


@pytest.mark.parametrize(
    ("fields", "content"),
    [
        ({"role": "developer", "content": "be kind"}, "be kind"),
        ({"role": "assistant", "content": None, "tool_calls": [CALL]}, [PART]),
        (FUNCTION, [{"type": "tool-result", "name": "look", "result": "found", "is_error": False}]),
    ],
)
def test_a_message_may_be_made_of_a_chat_completions_fields(fields, content):
    assert Message(**fields).content == content


def test_what_we_have_no_field_for_is_kept_beside_what_the_writer_keeps_there():
    given = {
        "role": "user",
        "content": "x",
        "model": "m",
        "usage": {},
        "refusal": None,
        "metadata": {"model": "own", "a": 1},
    }

    assert to_wire(given)["metadata"] == {"model": "own", "a": 1}
    assert to_wire({**given, "metadata": None})["metadata"] == {"model": "m"}
    assert to_wire({**given, "metadata": 5})["metadata"] == 5


@pytest.mark.parametrize(
    ("given", "says"),
    [
        ({"role": "robot", "content": "x"}, "role 'robot' is none of user, assistant, system, tool"),
        ({"role": ["user"], "content": "x"}, "role .* is none of"),
        ({"content": "x"}, "role is missing: it is one of user"),
        ({"type": "text", "text": "x"}, "content must be text or a list of parts"),
        ({"role": "user", "content": None}, "content must be text or a list of parts"),
        ({"role": "assistant"}, "content must be text or a list of parts"),
        ({"role": "user", "content": [5]}, "a part is a text or an object, not '5'"),
        ({"role": "assistant", "content": "x", "tool_calls": "look"}, "tool_calls is a list"),
        ({"role": "assistant", "content": "x", "tool_calls": [{"id": "c-1"}]}, "needs a function"),
    ],
)
def test_what_nobody_can_have_said_is_refused(given, says):
    with pytest.raises(InvalidInputError, match=says):
        message_of(given)


def test_a_content_that_nests_without_end_is_refused():
    part = deep = {"type": "tool_result", "tool_use_id": "a"}
    for _ in range(5_000):
        deep["content"] = [{"type": "tool_result", "tool_use_id": "a"}]
        (deep,) = deep["content"]

    with pytest.raises(InvalidInputError, match="nests too deeply"):
        Message(role="user", content=[part])
    with pytest.raises(InvalidInputError, match="nests too deeply"):
        message_of({"role": "user", "content": [part]})

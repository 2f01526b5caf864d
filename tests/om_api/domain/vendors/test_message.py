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


def test_what_vendors_write_is_written_our_way():
    for given, role, content in [
        ({"role": "developer", "content": "be kind"}, "system", "be kind"),
        ({"role": "assistant", "content": None, "refusal": "no"}, "assistant", "no"),
        ({"role": "assistant", "content": "let me see", "refusal": "no"}, "assistant", [TEXT, NO]),
        ({"role": "assistant", "content": None}, "assistant", ""), ({"role": "model", "parts": None}, "assistant", ""),
        ({"role": "assistant", "content": "x", "tool_calls": {}}, "assistant", "x"),
        ({"role": "assistant", "content": None, "audio": {"id": "a-1", "transcript": "aloud"}}, "assistant", "aloud"),
        ({"role": "assistant", "content": None, "tool_calls": [CALL]}, "assistant", [PART]),
        ({"role": "assistant", "content": "let me see", "tool_calls": [CALL]}, "assistant", [TEXT, PART]),
        ({"role": "assistant", "content": [TEXT], "tool_calls": [CALL]}, "assistant", [TEXT, PART]),
        ({"role": "assistant", "content": None, "function_call": CALL["function"]}, "assistant", [NAMELESS]),
        (FUNCTION, "tool", [{"type": "tool-result", "name": "look", "result": "found", "is_error": False}]),
        ({"role": "tool", "tool_call_id": "c-1", "content": "found"}, "tool", [RESULT]),
        ({"role": "tool", "tool_call_id": "c-1", "content": None}, "tool", [{**RESULT, "result": ""}]),
        ({"role": "tool", "tool_call_id": "c-1", "content": [TEXT], "name": "look"}, "tool",
         [{**RESULT, "name": "look", "result": "let me see"}]),
        ({"type": "message", "role": "user", "content": [{"type": "input_text", "text": "let me see"}]}, "user",
         [TEXT]),
        ({"type": "function_call", "call_id": "c-1", "name": "look", "arguments": '{"at": 1}'}, "assistant", [PART]),
        ({"type": "function_call_output", "call_id": "c-1", "output": "found"}, "tool", [RESULT]),
        ({"type": "web_search_call", "status": "done"}, "assistant", [{"type": "web_search_call", "status": "done"}]),
        ({"type": "mcp_approval_response", "approve": True}, "user",
         [{"type": "mcp_approval_response", "approve": True}]),
        ({"role": "model", "parts": [{"text": "let me see"}]}, "assistant", [TEXT]),
        ({"parts": [{"text": "let me see"}]}, "user", [TEXT]),
    ]:  # fmt: skip
        made = message_of(given)
        assert (made.role, made.content) == (role, content), (given, role, content)
        assert message_of({"role": made.role, "content": made.content}).content == content, (given, role, content)
        assert (made.tool_calls, made.tool_call_id, made.name) == (None, None, None), (given, role, content)


def test_what_is_ours_stays_and_other_fields_go_to_the_metadata():
    ours = {"role": "assistant", "content": [TEXT, PART], "id": "m-1", "tokens": 7, "name": "Ada"}
    assert to_wire(ours) is ours
    assert Message(**ours).content is ours["content"]
    assert Message(**ours).name == "Ada"
    given = {"role": "user", "content": "x", "model": "m", "usage": {}, "refusal": None}
    own = {"model": "own", "a": 1}
    for metadata, becomes in ((own, own), (None, {"model": "m"}), (5, 5)):
        assert to_wire({**given, "metadata": metadata})["metadata"] == becomes, metadata


def test_what_nobody_can_have_said_is_refused():
    for given, says in [
        ({"role": "robot", "content": "x"}, "role 'robot' is none of user, assistant, system, tool"),
        ({"role": ["user"], "content": "x"}, "role .* is none of"),
        ({"content": "x"}, "role is missing: it is one of user"),
        ({"type": "text", "text": "x"}, "content must be text or a list of parts"),
        ({"role": "user", "content": None}, "content must be text or a list of parts"),
        ({"role": "assistant"}, "content must be text or a list of parts"),
        ({"role": "user", "content": [5]}, "a part is a text or an object, not '5'"),
        ({"role": "assistant", "content": "x", "tool_calls": "look"}, "tool_calls is a list"),
        ({"role": "assistant", "content": "x", "tool_calls": [{"id": "c-1"}]}, "needs a function"),
    ]:  # fmt: skip
        with pytest.raises(InvalidInputError, match=says):
            message_of(given)
    part = deep = {"type": "tool_result", "tool_use_id": "a"}
    for _ in range(5_000):
        deep["content"] = [{"type": "tool_result", "tool_use_id": "a"}]
        (deep,) = deep["content"]
    with pytest.raises(InvalidInputError, match="nests too deeply"):
        Message(role="user", content=[part])
    with pytest.raises(InvalidInputError, match="nests too deeply"):
        message_of({"role": "user", "content": [part]})

"""Messages as chat completions APIs write them become our wire format, and what is ours already stays as it is."""

import pytest

from om_api.domain.chat_messages import to_wire
from om_api.domain.errors import InvalidInputError

CALL = {"id": "c-1", "function": {"name": "look", "arguments": '{"at": 1}'}}
PART = {"type": "tool-call", "tool_call_id": "c-1", "name": "look", "args": {"at": 1}}
RESULT = {"type": "tool-result", "tool_call_id": "c-1", "result": "found", "is_error": False}
TEXT = {"type": "text", "text": "let me see"}


@pytest.mark.parametrize(
    ("given", "role", "content"),
    [
        ({"role": "developer", "content": "be kind"}, "system", "be kind"),
        ({"role": "assistant", "content": None, "refusal": "no"}, "assistant", "no"),
        ({"role": "assistant", "content": None, "tool_calls": [CALL]}, "assistant", [PART]),
        ({"role": "assistant", "content": "let me see", "tool_calls": [CALL]}, "assistant", [TEXT, PART]),
        ({"role": "assistant", "content": [TEXT], "tool_calls": [CALL]}, "assistant", [TEXT, PART]),
        ({"role": "tool", "tool_call_id": "c-1", "content": "found"}, "tool", [RESULT]),
        (
            {"role": "tool", "tool_call_id": "c-1", "content": [{"type": "text", "text": "found"}], "name": "look"},
            "tool",
            [{**RESULT, "name": "look"}],
        ),
        (
            {"role": "user", "content": [{"type": "image_url", "image_url": {"url": "https://a.example/i.png"}}]},
            "user",
            [{"type": "image", "url": "https://a.example/i.png"}],
        ),
    ],
)
def test_what_chat_apis_write_is_written_our_way(given, role, content):
    assert to_wire(given) == {"role": role, "content": content} | ({"refusal": "no"} if "refusal" in given else {})


def test_what_is_ours_already_stays_as_it_is():
    ours = {"role": "assistant", "content": [TEXT, PART], "id": "m-1", "tokens": 7}

    assert to_wire(ours) == ours


def test_arguments_that_are_no_json_are_kept_as_the_model_wrote_them():
    call = {**CALL, "function": {"name": "look", "arguments": '{"at": '}}
    (part,) = to_wire({"role": "assistant", "content": "", "tool_calls": [call]})["content"]

    assert part["args"] == '{"at": '


@pytest.mark.parametrize(("calls", "says"), [("look", "tool_calls is a list"), ([{"id": "c-1"}], "needs a function")])
def test_calls_that_are_none_are_refused(calls, says):
    with pytest.raises(InvalidInputError, match=says):
        to_wire({"role": "assistant", "content": "x", "tool_calls": calls})

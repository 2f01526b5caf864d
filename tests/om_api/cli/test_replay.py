"""Recordings: three formats in, messages out, and an error that names its line."""

import json

import pytest

from om_api.cli.replay import read_messages
from om_api.domain.errors import InvalidInputError
from om_api.domain.values import to_ms

WIRE = {
    "id": "m-1",
    "role": "user",
    "content": "hello",
    "timestamp": "2025-10-06T09:00:00+02:00",
    "thread_id": "t-1",
    "resource_id": "harold",
}
CALL = {"id": "call-1", "type": "function", "function": {"name": "read_file", "arguments": '{"path": "a.py"}'}}
CHAT = [
    {"role": "developer", "content": "Be brief."},
    {"role": "user", "content": [{"type": "text", "text": "What is in a.py?"}]},
    {"role": "assistant", "content": None, "tool_calls": [CALL]},
    {"role": "tool", "tool_call_id": "call-1", "name": "read_file", "content": "print(1)"},
    {"role": "assistant", "content": "It prints 1."},
]


def read(*documents, resource="harold", thread="t-1"):
    lines = [each if isinstance(each, str) else json.dumps(each) for each in documents]
    return list(read_messages(lines, resource=resource, thread=thread))


def test_a_wire_message_keeps_everything():
    [message] = read(WIRE | {"metadata": {"channel": "#ops"}, "tokens": 7}, resource=None, thread=None)

    assert (message.id, message.role, message.content, message.tokens) == ("m-1", "user", "hello", 7)
    assert (message.resource_id, message.thread_id) == ("harold", "t-1")
    assert (message.timestamp, message.at) == (WIRE["timestamp"], to_ms(WIRE["timestamp"]))
    assert message.metadata == {"channel": "#ops"}


def test_camel_case_reads_like_snake_case():
    part = {"type": "tool-result", "toolCallId": "c", "name": "sql", "result": 3, "isError": True}
    line = {"id": "m", "role": "tool", "content": [part], "threadId": "t", "resourceId": "r", "createdAt": 1759734000}

    [message] = read(line, resource=None, thread=None)

    assert (message.resource_id, message.thread_id, message.at) == ("r", "t", 1_759_734_000_000)
    assert message.content == [
        {"type": "tool-result", "tool_call_id": "c", "name": "sql", "result": 3, "is_error": True}
    ]


def test_a_message_says_whose_it_is_before_the_arguments_do():
    [message] = read(WIRE, resource="codie", thread="other")

    assert (message.resource_id, message.thread_id) == ("harold", "t-1")


@pytest.mark.parametrize(
    "documents",
    [
        CHAT,
        [CHAT],
        [{"messages": CHAT}],
        json.dumps(CHAT, indent=2).splitlines(keepends=True),
        json.dumps({"messages": CHAT}, indent=1).splitlines(),
        ["", *json.dumps(CHAT).replace("}, {", "},\n{").splitlines(), "  "],
    ],
    ids=["lines", "list", "object", "list over lines", "object over lines", "list of lines"],
)
def test_a_chat_reads_the_same_from_every_layout(documents):
    messages = read(*documents)

    assert [message.role for message in messages] == ["system", "user", "assistant", "tool", "assistant"]
    assert messages[2].content == [
        {"type": "tool-call", "tool_call_id": "call-1", "name": "read_file", "args": {"path": "a.py"}}
    ]
    assert messages[3].content == [
        {
            "type": "tool-result",
            "tool_call_id": "call-1",
            "result": "print(1)",
            "is_error": False,
            "name": "read_file",
        }
    ]
    assert {(message.resource_id, message.thread_id) for message in messages} == {("harold", "t-1")}


def test_text_and_tool_calls_of_one_turn_stay_together():
    [message] = read({"role": "assistant", "content": "One moment.", "tool_calls": [CALL, CALL | {"id": "call-2"}]})

    assert message.text() == "One moment."
    assert [part.get("tool_call_id") for part in message.content] == [None, "call-1", "call-2"]


@pytest.mark.parametrize(
    ("fields", "expected"),
    [
        ({"role": "assistant", "content": None, "refusal": "No."}, "No."),
        ({"role": "tool", "content": "plain"}, "plain"),
        (
            {"role": "user", "content": [{"type": "image_url", "image_url": {"url": "https://example.org/a.png"}}]},
            [{"type": "image", "url": "https://example.org/a.png"}],
        ),
        (
            {"role": "assistant", "content": [{"type": "refusal", "refusal": "No."}]},
            [{"type": "text", "text": "No."}],
        ),
        (
            {"role": "tool", "tool_call_id": "c", "content": [{"type": "text", "text": "a"}]},
            [{"type": "tool-result", "tool_call_id": "c", "result": "a", "is_error": False}],
        ),
        (
            {"role": "assistant", "tool_calls": [{"id": "c", "function": {"name": "f", "arguments": "{oops"}}]},
            [{"type": "tool-call", "tool_call_id": "c", "name": "f", "args": "{oops"}],
        ),
    ],
)
def test_the_corners_of_a_chat_message_become_ours(fields, expected):
    assert read(fields)[0].content == expected


def test_an_object_around_a_list_speaks_for_its_messages():
    messages = read({"thread_id": "t-7", "messages": [CHAT[0], CHAT[1] | {"threadId": "t-8"}]})

    assert [message.thread_id for message in messages] == ["t-7", "t-8"]


def test_a_message_has_the_id_it_was_given_and_else_none():
    yes = {"role": "user", "content": "yes"}

    assert [message.id for message in read(yes, yes | {"id": 7}, yes | {"id": ""}, WIRE)] == ["", "7", "", "m-1"]


@pytest.mark.parametrize(
    ("document", "problem"),
    [
        ("{oops}", "line 3: not JSON"),
        ('{"role": "user", "content": "cut o', "line 3: not JSON"),
        ("17", "line 3: a message is a JSON object"),
        ({"role": "robot", "content": "x"}, "line 3: .*role 'robot'"),
        ({"role": "user"}, "line 3: content must be"),
        ({"role": "user", "content": [5]}, "line 3: .*a part is a text or an object, not '5'"),
        ({"role": "user", "content": "x", "timestamp": "yesterday"}, "line 3: timestamp 'yesterday'"),
        ({"role": "user", "content": "x", "thread_id": "a b"}, "line 3: thread_id 'a b' is not an id"),
        ({"role": "assistant", "tool_calls": "f"}, "line 3: tool_calls is a list"),
        ({"role": "assistant", "tool_calls": ["f"]}, "line 3: a tool call needs a function"),
        ([CHAT[0], {"role": "user"}], "line 3, message 2: content must be"),
        ('{"role": "user", "content": "\\ud800"}', "line 3: not JSON"),
    ],
)
def test_a_malformed_line_is_named(document, problem):
    with pytest.raises(InvalidInputError, match=problem):
        read(CHAT[0], "", document)


@pytest.mark.parametrize("missing", ["thread", "resource"])
def test_a_message_that_nobody_owns_is_named(missing):
    with pytest.raises(InvalidInputError, match=f"line 2: {missing}_id is missing"):
        read(WIRE, CHAT[0], **{missing: None})


@pytest.mark.parametrize("text", ['[{"role":"user","content":"x","n":%s}]', '{"role":"user","content":"x","n":%s}'])
def test_a_number_that_nobody_can_read_is_named_by_its_line(text):
    with pytest.raises(InvalidInputError, match="line 1: "):
        list(read_messages([text % ("9" * 5_000)], resource="r", thread="t"))


def test_a_document_over_many_lines_names_the_line_it_breaks_at():
    with pytest.raises(InvalidInputError, match="line 5: not JSON"):
        read("[", "", '{"role": "user", "content": "x"},', '{"role": "user", "content": "y"}', "oops", "]")


def test_messages_before_a_damaged_line_are_handed_out_first():
    messages = read_messages([json.dumps(WIRE), "{oops}"], resource=None, thread=None)

    assert next(messages).id == "m-1"
    with pytest.raises(InvalidInputError, match="line 2"):
        next(messages)


def test_a_response_is_read_by_its_output_and_an_item_is_no_list_of_messages():
    answer = {"type": "function_call_output", "call_id": "c", "output": [{"type": "input_text", "text": "4"}]}
    asked = {"type": "function_call", "call_id": "c", "name": "f", "arguments": "{}"}
    messages = read({"id": "resp_1", "object": "response", "output": [asked]}, answer)

    assert [message.content[0]["type"] for message in messages] == ["tool-call", "tool-result"]
    assert messages[1].content[0]["result"] == "4"


@pytest.mark.parametrize("option", ["thread", "resource"])
def test_who_misses_a_name_is_told_the_option_that_gives_it(option):
    with pytest.raises(InvalidInputError, match=f"or say --{option}"):
        read(CHAT[1], **{option: None})


@pytest.mark.parametrize("lines", range(1, 12))
def test_a_document_over_many_lines_that_was_cut_off_is_said_to_be(lines):
    """Catches `line 1: not JSON` of a file whose first line is right, and whose last one is missing."""
    text = json.dumps({"messages": CHAT[1:2]}, indent=1, separators=(",", " :\n")).splitlines()
    with pytest.raises(
        InvalidInputError, match=rf"line {lines}: the file ends within what begins in line 1: it was cut off"
    ):
        read(*text[:lines])

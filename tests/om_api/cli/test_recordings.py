"""Recordings are read, played, and shown in the demo."""

import json

import pytest

from om_api import Message
from om_api.cli.player import Player
from om_api.cli.replay import read_messages
from om_api.cli.transcripts import Transcripts
from om_api.domain.errors import InvalidInputError, StoreError
from om_api.domain.values import to_ms


def said(text, thread="t-1", **fields):
    return Message(role="user", content=text, thread_id=thread, resource_id="harold", **fields)


def test_a_store_that_goes_away_in_between_is_told_with_what_was_sent(world, monkeypatch):
    sync = world.om.sync

    def failing(messages, *place, **given):
        if any(message.content == "turn 4" for message in messages):
            raise StoreError("the store is away.", stored=False)
        return sync(messages, *place, **given)

    monkeypatch.setattr(world.om, "sync", failing)
    with pytest.raises(StoreError, match=r"away\. The 4 messages before it were sent and stay") as found:
        Player(world.om, 2, None).play([said(f"turn {n}") for n in range(6)], lambda _: None)
    assert found.value.stored is False
    assert len(world.covering()) == 4


WIRE = {"id": "m-1", "role": "user", "content": "hello", "timestamp": "2025-10-06T09:00:00+02:00", "thread_id": "t-1",
        "resource_id": "harold"}  # fmt: skip
CALL = {"id": "call-1", "type": "function", "function": {"name": "read_file", "arguments": '{"path": "a.py"}'}}
CHAT = [{"role": "developer", "content": "Be brief."},
        {"role": "user", "content": [{"type": "text", "text": "What is in a.py?"}]},
        {"role": "assistant", "content": None, "tool_calls": [CALL]},
        {"role": "tool", "tool_call_id": "call-1", "name": "read_file", "content": "print(1)"},
        {"role": "assistant", "content": "It prints 1."}]  # fmt: skip


def read(*documents, resource="harold", thread="t-1"):
    lines = [each if isinstance(each, str) else json.dumps(each) for each in documents]
    return list(read_messages(lines, resource=resource, thread=thread))


def test_a_wire_message_keeps_everything_and_a_chat_reads_the_same_from_every_layout():
    [message] = read(WIRE | {"metadata": {"channel": "#ops"}, "tokens": 7}, resource=None, thread=None)
    assert (message.id, message.role, message.content, message.tokens) == ("m-1", "user", "hello", 7)
    assert (message.resource_id, message.thread_id) == ("harold", "t-1")
    assert (message.timestamp, message.at) == (WIRE["timestamp"], to_ms(WIRE["timestamp"]))
    assert message.metadata == {"channel": "#ops"}
    call = {"type": "tool-call", "tool_call_id": "call-1", "name": "read_file", "args": {"path": "a.py"}}
    result = {"type": "tool-result", "tool_call_id": "call-1", "result": "print(1)", "is_error": False}
    for name, documents in {
        "lines": CHAT,
        "list": [CHAT],
        "object": [{"messages": CHAT}],
        "list over lines": json.dumps(CHAT, indent=2).splitlines(keepends=True),
        "object over lines": json.dumps({"messages": CHAT}, indent=1).splitlines(),
        "list of lines": ["", *json.dumps(CHAT).replace("}, {", "},\n{").splitlines(), "  "],
    }.items():
        messages = read(*documents)
        assert [message.role for message in messages] == ["system", "user", "assistant", "tool", "assistant"], name
        assert messages[2].content == [call], name
        assert messages[3].content == [result | {"name": "read_file"}], name
        assert {(message.resource_id, message.thread_id) for message in messages} == {("harold", "t-1")}, name


AT = "2026-06-01T08:00:00Z"
CLAUDE = [
    {"type": "summary", "summary": "Parser", "leafUuid": "3"},
    {"type": "user", "sessionId": "s", "uuid": "0", "isMeta": True, "message": {"role": "user", "content": "Caveat"}},
    {"type": "user", "sessionId": "s", "uuid": "1", "message": {"role": "user", "content": "Fix a.py"}},
    {"type": "assistant", "sessionId": "s", "uuid": "2", "message": {"role": "assistant", "content": [
        {"type": "thinking", "thinking": "hm", "signature": "c2ln"},
        {"type": "tool_use", "id": "t1", "name": "Read", "input": {"path": "a.py"}}]}},
    {"type": "user", "sessionId": "s", "uuid": "3", "message": {"role": "user", "content": [
        {"type": "tool_result", "tool_use_id": "t1", "content": "print(1)"}]}},
    {"type": "assistant", "sessionId": "s", "uuid": "4", "message": {"role": "assistant", "content": "Done."}},
    {"type": "user", "sessionId": "s", "uuid": "5", "isSidechain": True, "message": {"role": "user", "content": "Look"}},
    {"type": "file-history-snapshot", "messageId": "m", "snapshot": {}},
]  # fmt: skip
CODEX = [
    {"type": "session_meta", "payload": {"id": "s", "cwd": "/src"}},
    {"type": "response_item", "payload": {"type": "message", "role": "user", "content": [
        {"type": "input_text", "text": "<environment_context>"}]}},
    {"type": "response_item", "payload": {"type": "message", "role": "user", "content": [
        {"type": "input_text", "text": "Fix a.py"}]}},
    {"type": "event_msg", "payload": {"type": "user_message", "message": "Fix a.py"}},
    {"type": "response_item", "payload": {
        "type": "function_call", "name": "Read", "arguments": '{"path": "a.py"}', "call_id": "t1"}},
    {"type": "response_item", "payload": {"type": "function_call_output", "call_id": "t1", "output": "print(1)"}},
    {"type": "response_item", "payload": {"type": "message", "role": "assistant", "content": [
        {"type": "output_text", "text": "Done."}]}},
]  # fmt: skip
OLD_CODEX = [
    {"id": "s", "timestamp": AT, "instructions": None},
    *(each["payload"] for each in CODEX if each["type"] == "response_item" and "<env" not in str(each)),
    {"record_type": "state"},
]


def test_transcripts_of_coding_agents_are_read_with_words_roles_times_calls_and_threads():
    for name, lines, skipped in (("claude", CLAUDE, 3), ("codex", CODEX, 3), ("old codex", OLD_CODEX, 2)):
        for thread, stands in ((None, "s"), ("t", "t")):
            transcripts = Transcripts(thread)
            dated = [json.dumps({"timestamp": AT, **line}) for line in lines]
            found = [*read_messages(dated, resource="harold", thread=thread, transcripts=transcripts)]
            talk = [each for each in found if each.thread_id == stands]
            assert [each.text() for each in talk] == ["Fix a.py", "", "", "Done."], name
            assert [each.role for each in talk][:2] == ["user", "assistant"], name
            call, result = talk[1].content[-1], talk[2].content[-1]
            assert (call["type"], call["name"], call["args"]) == ("tool-call", "Read", {"path": "a.py"}), name
            assert (result["type"], result["tool_call_id"], result["result"]) == ("tool-result", "t1", "print(1)"), name
            assert {each.at for each in talk} == {to_ms(AT)}, name
            assert [each.thread_id for each in found if each not in talk] == [f"{stands}.subagent"] * (name == "claude")
            assert transcripts.skipped == skipped, name


def test_a_malformed_line_is_named_and_a_document_over_many_lines_that_was_cut_off_is_said_to_be():
    for document, problem in [
        ("{oops}", "line 3: not JSON"),
        ('{"role": "user", "content": "cut o', "line 3: not JSON"),
        ({"role": "robot", "content": "x"}, "line 3: .*role 'robot'"),
        ({"role": "user"}, "line 3: content must be"),
        ({"type": "user", "words": "x"}, "line 3: a message needs one of role, content and parts; it has type, words"),
        ({"role": "user", "content": [5]}, "line 3: .*a part is a text or an object, not '5'"),
        ({"role": "user", "content": "x", "timestamp": "yesterday"}, "line 3: timestamp 'yesterday'"),
        ({"role": "user", "content": "x", "thread_id": "x" * 201}, "line 3: id 'x+' is too long"),
        ({"role": "assistant", "tool_calls": ["f"]}, "line 3: a tool call needs a function"),
        ([CHAT[0], {"role": "user"}], "line 3, message 2: content must be"),
    ]:
        with pytest.raises(InvalidInputError, match=problem):
            read(CHAT[0], "", document)
    # Catches `line 1: not JSON` of a file whose first line is right, and whose last one is missing.
    text = json.dumps({"messages": CHAT[1:2]}, indent=1, separators=(",", " :\n")).splitlines()
    for lines in range(1, 12):
        with pytest.raises(InvalidInputError, match=f"line {lines}: the file ends within what begins in line 1"):
            read(*text[:lines])

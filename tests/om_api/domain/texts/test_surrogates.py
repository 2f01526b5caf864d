"""Lone surrogates become U+FFFD, by every door; everything else of the batch is stored and known again."""

import json

import msgspec
import pytest
from world import World

from om_api.domain.messages import Message
from om_api.domain.texts.surrogates import decode_json, whole_text
from om_api.store.backup import backup_format

CUT, WHOLE = "caf\udc97 \ud83dx \ud83d\ude00 \ud83d", "caf\ufffd \ufffdx \U0001f600 \ufffd"
TOLD = {
    "role": "tool",
    "name": CUT,
    "metadata": {CUT: [CUT]},
    "content": [{"type": "tool-result", "tool_call_id": CUT, "result": {CUT: CUT}}],
}
TURNS = [
    {"role": "user", "content": CUT},
    {
        "role": "assistant",
        "tool_calls": [{"id": CUT, "function": {"name": "cat", "arguments": json.dumps({"a": CUT})}}],
    },
    {"role": "tool", "tool_call_id": CUT, "content": CUT},
]


def test_lone_surrogates_are_replaced_and_pairs_and_escaped_backslashes_stay():
    assert whole_text(CUT) == WHOLE
    written = json.dumps({CUT: [CUT, "\\ud83d", "\\\\ud83d"]}).encode()
    assert decode_json(written) == {WHOLE: [WHOLE, "\\ud83d", "\\\\ud83d"]}
    assert decode_json('{"a": "\ud83d"}'.encode("utf-8", "surrogatepass")) == {"a": "\ufffd"}
    for broken in (b'{"a": "\xff"}', b'{"a": \\ud83d}', b'"\\ud83'):
        with pytest.raises((msgspec.DecodeError, UnicodeDecodeError)):
            decode_json(broken)


def test_a_message_holds_no_lone_surrogate():
    message = Message(**TOLD)
    assert (message.name, message.metadata) == (WHOLE, {WHOLE: [WHOLE]})
    assert message.content == [{"type": "tool-result", "tool_call_id": WHOLE, "result": {WHOLE: WHOLE}}]


def test_a_history_with_lone_surrogates_is_stored_and_recognised(world):
    memory, history = world.om, []
    for n, turn in enumerate(TURNS):
        history.append(turn)
        synced = memory.sync(history, "harold", "t-1")
        assert (synced.added, synced.known, synced.changed) == (1, n, ())
    again = World(world.client, world.prefix).om.sync(history, "harold", "t-1")  # of a client that remembers nothing
    assert (again.known, again.changed) == (len(TURNS), ())
    said = world.context("t-1").messages
    assert (said[0].content, said[1].content[0]["args"], said[2].content[0]["result"]) == (WHOLE, {"a": WHOLE}, WHOLE)


def test_a_plain_writers_escapes_are_adopted(world):
    member = json.dumps({"role": "user", "content": CUT}).encode()
    key = world.services.keys.of("harold").messages("t-1")
    world.client.zadd(key, {member: 1_764_000_000_000})
    world.client.zadd(world.services.keys.adopt, {key: 0})
    before = world.context("t-1").messages
    world.tick()
    after = world.context("t-1").messages
    assert [(each.id, each.content) for each in before] == [(each.id, each.content) for each in after]
    assert (after[0].content, world.om.rejected("harold")) == (WHOLE, [])


def test_an_exported_line_with_escapes_is_read():
    line = msgspec.json.decode(
        backup_format.write(
            backup_format.ThreadLine(thread="t-1", at=None, messages=0, tokens=0, fields={"title": "x"})
        )
    )
    line["fields"]["title"] = CUT
    assert backup_format.read(json.dumps(line).encode()).fields == {"title": WHOLE}

"""How large a message may be: refused by a push, rejected by adoption, and cut in a history so that the rest is stored."""

import json

import pytest
from world import World

from om_api import InvalidInputError
from om_api.domain.message_size import MAX_METADATA, MAX_PARTS, MAX_TEXT, check_size, fitted
from om_api.domain.messages import Message
from om_api.domain.wire import encode_message
from om_api.store.memory.adopt import adopt

LARGE = "word " * (MAX_TEXT // 4)
PIXELS = {"type": "image", "url": "data:image/png;base64," + "A" * (2 * MAX_TEXT), "mime": "image/png"}
WIDE = {"a": "x" * MAX_METADATA}
PLACE = {"thread_id": "t-1", "resource_id": "harold"}


def test_text_is_bounded_and_media_and_metadata_are_bounded_with_all():
    for content, metadata in (("x" * (MAX_TEXT - 2), None), ([PIXELS], None), ("x", {"a": "x" * (MAX_METADATA - 8)})):
        said = Message(role="user", content=content, metadata=metadata)
        check_size(said, encode_message(said))
        assert fitted(said) is said
    result = {"type": "tool-result", "tool_call_id": "c", "name": "n", "result": {"rows": [LARGE]}}
    call = {"type": "tool-call", "tool_call_id": "c", "name": "n", "args": {"text": LARGE}}
    for content, metadata in (
        (LARGE, None), ("\x01" * MAX_TEXT, None), ("ж" * MAX_TEXT, None), ([result], None), ([call, result], None),
        ([{"type": "text", "text": "x" * 1_000}] * 2_000, None), ([{"type": "unknown", "blob": [LARGE]}], None),
        ([PIXELS] * 5, None), ("x", {"a": [[]] * (MAX_METADATA // 3)}), ([{"type": "text", "text": ""}] * (MAX_PARTS + 2), None),
    ):  # fmt: skip
        said = Message(role="user", content=content, metadata=metadata)
        with pytest.raises(InvalidInputError, match=r"split it|shorten it"):
            check_size(said, encode_message(said))
        made = fitted(said)
        check_size(made, encode_message(made))
        assert fitted(made) is made
        assert encode_message(fitted(said)) == encode_message(made)
    assert fitted(Message(role="user", content=f"begin {LARGE} end")).content.startswith("begin word")


def test_a_large_message_is_refused_by_a_push_and_rejected_by_adoption(client, prefix):
    world = World(client, prefix)
    with pytest.raises(InvalidInputError, match=r"messages\[1\]: message m-2 is too large: .*maximum 1,048,576"):
        world.om.add_messages([{"id": name, "role": "user", "content": text, **PLACE}
                               for name, text in (("m-1", "hi"), ("m-2", LARGE))])  # fmt: skip
    keys, run = world.services.keys, world.services.run
    key = keys.of("harold").messages("t-1")
    client.zadd(
        key,
        {
            json.dumps({"id": f"p-{n}", "role": "user", **said}): n + 1
            for n, said in enumerate([{"content": "hi"}, {"content": LARGE}, {"content": "hi", "metadata": WIDE}])
        },
    )
    assert run(adopt(keys, world.services.clock, "harold", "t-1", len))[:3] == (1, 0, 2)
    reasons = " ".join(each.reason for each in world.om.rejected("harold"))
    assert all(told in reasons for told in ("split it", "metadata is too large"))


def test_a_large_message_in_a_history_is_cut_and_the_rest_is_stored_once(client, prefix):
    world = World(client, prefix)
    history = [
        {"role": "user", "content": "look"},
        {"role": "assistant", "content": LARGE},
        {"role": "user", "content": "ok"},
    ]
    first = world.om.sync(history, **PLACE)
    assert (first.added, first.cut) == (3, first.ids[1:2])
    again = World(client, prefix).om.sync([*history, {"role": "assistant", "content": "done"}], **PLACE)
    assert (again.added, again.known, again.cut, again.diverged_at) == (1, 3, first.cut, None)
    assert "characters were cut here" in world.om.browse(first.ids[1], resource_id="harold").message.content

"""What a vendor's SDK gives is handed over as it is, and what a context gives goes back to any of them as it is."""

import json

import anthropic.types
import pytest
from google.genai import types as google
from openai.types.chat import ChatCompletionMessage
from recordings import RECORDED, accepted, called

from om_api import InvalidInputError
from om_api.domain.wire import parse_member

PLACE = {"thread_id": "t-1", "resource_id": "harold"}
recorded = pytest.mark.parametrize("vendor", RECORDED)


def said(world, thread="t-1"):
    return [(message.role, message.content) for message in world.context(thread).messages]


@recorded
def test_a_whole_conversation_is_added_as_it_is_and_each_vendor_takes_the_context(world, vendor):
    receipt = world.om.add_messages(RECORDED[vendor], **PLACE)

    assert receipt.added == len(RECORDED[vendor])
    counts = {len(called(form, sent)) for form, sent in accepted(world.context("t-1")).items()}
    assert len(counts) == 1
    assert counts != {0}


@recorded
def test_a_plain_writer_may_write_what_a_vendor_gave(world, vendor):
    bodies = [{"id": f"m-{n:03}", **body} if not body.get("id") else body for n, body in enumerate(RECORDED[vendor])]
    world.om.add_messages(bodies, **PLACE)
    key = f"{world.prefix}:{{harold}}:messages:t-2"
    world.client.zadd(key, {json.dumps(body): 1763600000000 + n for n, body in enumerate(bodies)})
    world.sweep()

    assert world.om.stats("harold").rejected == 0
    assert said(world, "t-2") == said(world, "t-1")
    members = world.client.zrange(key, 0, -1)
    assert [parse_member(member, "t-2", "harold", 0).content for member in members] == [c for _, c in said(world)]


@recorded
def test_a_conversation_is_observed_whole_and_no_call_without_its_result(world, vendor):
    world.om.add_messages(RECORDED[vendor], **PLACE)
    world.om.force_observe("t-1", "harold")
    world.settle()

    assert len(world.covering()) == len(RECORDED[vendor])
    for request in world.model.requests:
        parts = [part["type"] for message in request.messages for part in message.parts]
        assert parts.count("tool-call") == parts.count("tool-result")


def test_an_sdks_objects_are_taken_as_they_are(world):
    call = {"id": "c-1", "type": "function", "function": {"name": "look", "arguments": "{}"}}
    chat = ChatCompletionMessage.model_validate({"role": "assistant", "content": None, "tool_calls": [call]})
    image = google.Part.from_bytes(data=b"\x89PNG", mime_type="image/png")
    gemini = google.Content(role="user", parts=[google.Part(text="see"), image])
    block = anthropic.types.TextBlock(type="text", text="done", citations=None)

    world.om.add_message(chat, **PLACE)
    world.om.add_messages([gemini, {"role": "assistant", "content": [block], **PLACE}], **PLACE)

    assert said(world) == [
        ("assistant", [{"type": "tool-call", "tool_call_id": "c-1", "name": "look", "args": {}}]),
        (
            "user",
            [
                {"type": "text", "text": "see"},
                {"type": "image", "url": "data:image/png;base64,iVBORw==", "mime": "image/png"},
            ],
        ),
        ("assistant", [{"type": "text", "text": "done"}]),
    ]


def test_what_a_message_says_of_its_place_comes_before_what_is_said_of_all(world):
    own = {"role": "user", "content": "mine", "threadId": "t-2", "resource_id": "ada"}
    world.om.add_messages([own, {"role": "user", "content": "anybody's"}], **PLACE)

    assert world.context("t-2", "ada").text == "user: mine"
    assert world.context("t-1").text == "user: anybody's"


@pytest.mark.parametrize(
    ("given", "says"),
    [
        ("hello", "it must be a Message, not str; a dict or an SDK's object will do"),
        ({"role": "robot", "content": "x"}, "role 'robot' is none of user"),
        ({"choices": []}, "content must be text or a list of parts"),
        ({"role": "user", "content": [object()]}, "object is neither JSON nor an SDK's object"),
    ],
)
def test_what_is_no_message_is_named_by_its_place_and_nothing_is_kept(world, given, says):
    with pytest.raises(InvalidInputError, match=rf"^messages\[1\]: .*{says}.*; nothing was kept"):
        world.om.add_messages([{"role": "user", "content": "good"}, given], **PLACE)
    assert list(world.client.scan_iter(f"{world.prefix}*")) == []


def test_a_message_without_a_place_says_so(world):
    with pytest.raises(InvalidInputError, match="thread_id of message"):
        world.om.add_message({"role": "user", "content": "x"}, resource_id="harold")

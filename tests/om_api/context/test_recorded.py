"""What was recorded of four vendors goes to each of the four, as its own SDK takes it; no call is parted from its result."""

import json

from provider_requests import NOW
from recordings import RECORDED, accepted
from snapshots import snapshot

from om_api.context import View, build
from om_api.domain.wire import encode_message, message_of, parse_member


def read(bodies):
    """As they are kept: pushed, and read again."""
    messages = [
        message_of({"id": f"m-{n:03}", **body} if "id" not in body else body, "t-1", "harold")
        for n, body in enumerate(bodies)
    ]
    for n, message in enumerate(messages):
        message.at = NOW + n
    return [parse_member(encode_message(message), "t-1", "harold", message.at) for message in messages]


def context(messages, max_tokens=None):
    return build(snapshot(messages), View(), len, NOW, max_tokens)


def test_no_thought_reaches_another_vendor_and_base64_of_none_is_text():
    for vendor in RECORDED:
        made = context(read(RECORDED[vendor]))
        sent = {form: json.dumps(messages) for form, messages in accepted(made).items()}
        assert [form for form, text in sent.items() if "Two cities, two calls." in text] == ["anthropic"] * (
            vendor == "anthropic"
        ), vendor
        for text in (*sent.values(), made.text):
            assert "encrypted" not in text, vendor
            assert "gAAAAABo4x" not in text, vendor
            assert "JVBERi0xLjQ" not in text, vendor


def test_anthropics_thoughts_go_back_to_anthropic_word_for_word_with_the_calls_they_came_with():
    (turn,) = [m for m in accepted(context(read(RECORDED["anthropic"])))["anthropic"] if m["role"] == "assistant"][:1]

    assert turn["content"][:2] == RECORDED["anthropic"][2]["content"][:2]
    assert [block["type"] for block in turn["content"]] == [
        "thinking", "redacted_thinking", "text", "tool_use", "tool_use",
    ]  # fmt: skip


def test_a_thought_that_anthropic_would_refuse_is_not_sent():
    """Changed by a letter, or without its signature, a thought costs the whole request."""
    for thought in [
        {"type": "thinking", "thinking": "hm"},
        {"type": "thinking", "thinking": "hm", "signature": ""},
        {"type": "thinking", "thinking": "</observations>", "signature": "abcd"},
        {"type": "redacted_thinking"},
        {"type": "reasoning", "id": "rs_1", "text": "hm", "signature": "abcd"},
    ]:
        call = {"type": "tool_use", "id": "a", "name": "f", "input": {}}
        answer = {"type": "tool_result", "tool_use_id": "a", "content": "x"}
        messages = read([{"role": "assistant", "content": [thought, call]}, {"role": "user", "content": [answer]}])
        assert [b["type"] for b in accepted(context(messages))["anthropic"][1]["content"]] == ["tool_use"], thought

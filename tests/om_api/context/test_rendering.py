"""Rendering: views of a memory, and contexts of recorded ones."""

import json
import re

from hypothesis import given, settings
from hypothesis import strategies as st
from provider_requests import NOW
from recordings import RECORDED, accepted
from snapshots import DAY, NOON, observed, snapshot

from om_api.context import Rendering, View, build
from om_api.domain.messages import Message
from om_api.domain.values import Generation, ThreadState
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
            data = re.compile(r';base64,JVBERi0xLjQ="|"data": "JVBERi0xLjQ="')  # a file's own field
            assert "JVBERi0xLjQ" not in data.sub("", text), vendor


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


NAMES = st.sampled_from(["a", "b", "a-2"])
CALL = st.builds(lambda name: {"type": "tool-call", "tool_call_id": name, "name": "look", "args": {"q": name}}, NAMES)
RESULT = st.builds(lambda name: {"type": "tool-result", "tool_call_id": name, "result": "found"}, NAMES)
TEXT = st.builds(lambda text: {"type": "text", "text": text}, st.sampled_from(["", " ", "hello", "<observations>"]))
CONTENT = st.sampled_from(["", "hello", "</thread>"]) | st.lists(CALL | RESULT | TEXT, min_size=1, max_size=3)
TALK = st.lists(st.tuples(st.sampled_from(["user", "assistant", "system", "tool"]), CONTENT), max_size=12)


def said(talk):
    return [Message(id=f"m{n}", role=role, content=content, at=NOON + n) for n, (role, content) in enumerate(talk)]


SNAPSHOTS = st.builds(
    snapshot,
    TALK.map(said),
    st.integers(0, 3).map(
        lambda n: [observed(m, f"Date: Dec {m}, 2025\n* Fact", activation=f"a{m}") for m in range(n)]
    ),
    generation=st.none() | st.integers(1, 2).map(lambda n: Generation(n=n, text=f"long ago {n}")),
    thread=st.sampled_from(["", "mend the roof"]).map(lambda task: ThreadState(id="t1", current_task=task)),
    others=st.sampled_from([{}, {"t2": said([("user", "elsewhere")])}]),
)


def seen(made):
    forms = (made.as_openai(), made.as_anthropic(), made.as_gemini(), made.text)
    return made.blocks, made.messages, made.tokens, made.omitted, forms


@settings(max_examples=30)
@given(looks=st.lists(st.tuples(SNAPSHOTS, st.integers(0, 1), st.sampled_from([None, 60])), min_size=1, max_size=4))
def test_a_context_is_what_it_would_be_if_it_were_the_first(looks):
    rendering = Rendering(len)
    for read, days, most in looks:
        again = rendering.context(read, View(), NOON + days * DAY, most)
        assert seen(again) == seen(build(read, View(), len, NOON + days * DAY, most))


def test_what_a_caller_does_to_one_context_shows_in_no_later_one():
    rendering, part = Rendering(len), {"type": "text", "text": "hello"}
    messages = [Message(role="user", content=[part], metadata={"a": [1]}), Message(role="user", content="plain")]
    made = rendering.context(snapshot(messages, [observed(1)]), View(), NOON)
    made.messages[0].content[0]["text"] = made.messages[1].content = "forged"
    made.messages[0].metadata["a"].append(2)
    made.as_openai()[2]["content"] = "forged"
    after = rendering.context(snapshot(messages, [observed(1)]), View(), NOON)

    assert "forged" not in f"{after.messages} {after.as_openai()} {after.text}"
    assert after.messages[0].metadata == {"a": [1]}

"""What was recorded of four vendors goes to each of the four, as its own SDK takes it; no call is parted from its result."""

import json

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from provider_requests import NOW
from recordings import ACCEPTS, RECORDED, accepted, called, without_nulls
from snapshots import snapshot

from om_api.context import View, build
from om_api.domain.message_tokens import count_message
from om_api.domain.wire import encode_message, message_of, parse_member

ASKED = {
    "openai_chat": [
        ("get_weather", {"city": "Oslo"}),
        ("get_weather", {"city": "Graz"}),
        ("convert", {"amount": 100, "to": "NOK"}),
    ],
    "openai_responses": [
        ("get_weather", {"city": "Oslo"}),
        ("get_weather", {"city": "Graz"}),
        ("shell", {"value": "ls -l"}),
    ],
    "anthropic": [("get_weather", {"city": "Oslo"}), ("get_weather", {"city": "Graz"})],
    "gemini": [
        ("get_weather", {"city": "Oslo"}),
        ("get_weather", {"city": "Graz"}),
        ("get_time", {}),
        ("keep", {"what": "passport"}),
    ],
}


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


recorded = pytest.mark.parametrize("vendor", RECORDED)


@recorded
def test_a_recording_is_what_its_vendors_sdk_accepts(vendor):
    ACCEPTS[vendor](without_nulls(RECORDED[vendor]))


@recorded
def test_what_is_read_is_what_was_pushed_however_often_it_goes_round(vendor):
    messages = read(RECORDED[vendor])

    assert messages == read(RECORDED[vendor])
    assert messages == [parse_member(encode_message(m), "t-1", "harold", m.at) for m in messages]
    assert [m.content for m in read([{"role": m.role, "content": m.content} for m in messages])] == [
        m.content for m in messages
    ]


@recorded
def test_a_recording_goes_to_every_vendor_as_its_sdk_takes_it(vendor):
    sent = accepted(context(read(RECORDED[vendor])))

    for form, messages in sent.items():
        assert called(form, messages) == ASKED[vendor], form
        for words in ("Oslo has 4 degrees and rain, Graz 19 and sun.", "passport", "iVBORw0KGgo="):
            assert words in json.dumps(messages), form


@recorded
def test_no_thought_reaches_another_vendor_and_base64_of_none_is_text(vendor):
    made = context(read(RECORDED[vendor]))
    sent = {form: json.dumps(messages) for form, messages in accepted(made).items()}

    assert [form for form, text in sent.items() if "Two cities, two calls." in text] == ["anthropic"] * (
        vendor == "anthropic"
    )
    for text in (*sent.values(), made.text):
        assert "encrypted" not in text
        assert "gAAAAABo4x" not in text
        assert "JVBERi0xLjQ" not in text


def test_anthropics_thoughts_go_back_to_anthropic_word_for_word_with_the_calls_they_came_with():
    (turn,) = [m for m in accepted(context(read(RECORDED["anthropic"])))["anthropic"] if m["role"] == "assistant"][:1]

    assert turn["content"][:2] == RECORDED["anthropic"][2]["content"][:2]
    assert [block["type"] for block in turn["content"]] == [
        "thinking",
        "redacted_thinking",
        "text",
        "tool_use",
        "tool_use",
    ]


@pytest.mark.parametrize(
    "thought",
    [
        {"type": "thinking", "thinking": "hm"},
        {"type": "thinking", "thinking": "hm", "signature": ""},
        {"type": "thinking", "thinking": "</observations>", "signature": "abcd"},
        {"type": "redacted_thinking"},
        {"type": "reasoning", "id": "rs_1", "text": "hm", "signature": "abcd"},
    ],
)
def test_a_thought_that_anthropic_would_refuse_is_not_sent(thought):
    """Changed by a letter, or without its signature, a thought costs the whole request."""
    call = {"type": "tool_use", "id": "a", "name": "f", "input": {}}
    answer = {"type": "tool_result", "tool_use_id": "a", "content": "x"}
    messages = read([{"role": "assistant", "content": [thought, call]}, {"role": "user", "content": [answer]}])

    assert [b["type"] for b in accepted(context(messages))["anthropic"][1]["content"]] == ["tool_use"]


def test_a_thought_alone_is_no_turn_and_a_thought_without_calls_is_not_sent():
    """Anthropic refuses a message that ends with a thought."""
    thought = {"type": "thinking", "thinking": "hm", "signature": "abcd"}
    text = {"type": "text", "text": "hello"}
    made = context(
        read([{"role": "assistant", "content": [thought]}, {"role": "assistant", "content": [thought, text]}])
    )

    assert [m["content"] for m in accepted(made)["openai_chat"]] == ["hello"]
    assert accepted(made)["anthropic"][-1]["content"] == [{**text, "cache_control": {"type": "ephemeral"}}]
    assert made.text == "assistant: [thinking]\n\nassistant: [thinking]\n\thello"


def test_what_nobody_knows_is_a_placeholder_beside_the_words():
    part = {"type": "hologram]\nuser: <observations>", "data": "x" * 500}
    made = context(read([{"role": "user", "content": [{"type": "text", "text": "see"}, part]}]))

    assert made.text == "user: see\n\t[hologram) user: &lt;observations>]"
    for messages in accepted(made).values():
        assert "[hologram) user: &lt;observations>]" in json.dumps(messages)


# -- any talk, at any cap -------------------------------------------------------------------------------------------------


NAMES = st.sampled_from(["f", "g"])


@st.composite
def chat(draw, number):
    """Calls of one turn, and their results in any order: with ids as OpenAI has them, or without as it had them."""
    if draw(st.booleans()):
        name = draw(NAMES)
        return [
            {"role": "assistant", "content": None, "function_call": {"name": name, "arguments": "{}"}},
            {"role": "function", "name": name, "content": "x"},
        ]
    ids = [f"c{draw(st.integers(0, 1)) and number}{n}" for n in range(draw(st.integers(1, 3)))]
    calls = [{"id": i, "type": "function", "function": {"name": draw(NAMES), "arguments": "{}"}} for i in ids]
    answers = [{"role": "tool", "tool_call_id": i, "content": "x"} for i in draw(st.permutations(ids))]
    return [{"role": "assistant", "content": draw(st.sampled_from([None, "so"])), "tool_calls": calls}, *answers]


@st.composite
def items(draw, number):
    ids = [f"c{draw(st.integers(0, 1)) and number}{n}" for n in range(draw(st.integers(1, 3)))]
    thought = [{"type": "reasoning", "id": f"rs_{number}", "summary": []}] * draw(st.integers(0, 1))
    calls = [{"type": "function_call", "call_id": i, "name": draw(NAMES), "arguments": "{}"} for i in ids]
    return [
        *thought,
        *calls,
        *({"type": "function_call_output", "call_id": i, "output": "x"} for i in draw(st.permutations(ids))),
    ]


@st.composite
def blocks(draw, number):
    ids = [f"c{draw(st.integers(0, 1)) and number}{n}" for n in range(draw(st.integers(1, 3)))]
    thought = [{"type": "thinking", "thinking": "hm", "signature": "abcd"}] * draw(st.integers(0, 1))
    calls = [{"type": "tool_use", "id": i, "name": draw(NAMES), "input": {}} for i in ids]
    answers = [{"type": "tool_result", "tool_use_id": i, "content": "x"} for i in draw(st.permutations(ids))]
    words = [{"type": "text", "text": "and?"}] * draw(st.integers(0, 1))
    return [{"role": "assistant", "content": [*thought, *calls]}, {"role": "user", "content": [*answers, *words]}]


@st.composite
def contents(draw, number):
    """Without ids, answered at once or one by one; a function may be asked twice."""
    names = draw(st.lists(NAMES, min_size=1, max_size=3))
    ids = [{"id": f"c{number}{n}"} if draw(st.booleans()) else {} for n in range(len(names))]
    calls = [{"functionCall": {"name": name, "args": {}, **own}} for name, own in zip(names, ids, strict=True)]
    answers = [{"functionResponse": {"name": name, "response": {"x": 1}}} for name in names]
    together = [{"role": "user", "parts": answers}]
    apart = [{"role": "function", "parts": [answer]} for answer in answers]
    return [{"role": "model", "parts": calls}, *draw(st.sampled_from([together, apart]))]


@st.composite
def talks(draw):
    form = draw(st.sampled_from([chat, items, blocks, contents]))
    said = st.sampled_from([[{"role": "user", "content": "hi"}], [{"role": "assistant", "content": "well"}]])
    turns = [draw(said if draw(st.booleans()) else form(number)) for number in range(draw(st.integers(1, 6)))]
    return [body for turn in turns for body in turn]


@settings(max_examples=300, deadline=None)
@given(bodies=talks(), cap=st.integers(0, 400))
def test_no_call_is_parted_from_its_result_in_any_form_at_any_cap(bodies, cap):
    messages = read(bodies)
    made = context(messages, cap)
    shown = [part for message in made.messages for part in message.parts]
    calls = [part for part in shown if part["type"] == "tool-call"]
    results = [part for part in shown if part["type"] == "tool-result"]

    assert len(calls) == len(results)
    for form, sent in accepted(made).items():
        assert len(called(form, sent)) == len(calls), form
    fits = sum(count_message(message, len) for message in made.messages) <= cap
    newest = {part["type"] for part in made.messages[-1].parts}
    assert fits or made.omitted == 0 or len(made.messages) == 1 or "tool-result" in newest

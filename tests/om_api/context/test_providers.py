"""What every provider is sent: nothing it refuses, nothing shared with the snapshot, and a cache that holds."""

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st
from provider_requests import PIXEL, anthropic, call, context, gemini, openai, result, text

PART = st.one_of(
    st.sampled_from(["hello", " ", ""]).map(text),
    st.sampled_from(["a", "b", ""]).map(call),
    st.sampled_from(["a", "b", ""]).map(result),
    st.sampled_from([{"type": "image", "url": PIXEL}, {"type": "image"}, {"type": "file", "name": "x.pdf"}]),
)
CONTENT = st.sampled_from(["hello", ""]) | st.lists(PART, max_size=4)
TURNS = st.lists(st.tuples(st.sampled_from(["user", "assistant", "system", "tool"]), CONTENT), max_size=8)


def assert_openai_accepts(messages):
    waiting = []
    for message in messages:
        if message["role"] == "tool":
            waiting.remove(message["tool_call_id"])
        else:
            assert not waiting
            assert message["content"] or message.get("tool_calls")
            waiting = [made["id"] for made in message.get("tool_calls", [])]
            assert len(set(waiting)) == len(waiting)
    assert not waiting


def assert_alternates(roles, model):
    assert roles == [("user", model)[i % 2] for i in range(len(roles))]


def assert_anthropic_accepts(messages):
    assert_alternates([message["role"] for message in messages], "assistant")
    waiting = []
    for message in messages:
        kinds = [part["type"] for part in message["content"]]
        answered = [part["tool_use_id"] for part in message["content"] if part["type"] == "tool_result"]
        assert kinds
        assert answered == waiting
        assert kinds[: len(answered)] == ["tool_result"] * len(answered)
        assert all(part["text"].strip() for part in message["content"] if part["type"] == "text")
        waiting = [part["id"] for part in message["content"] if part["type"] == "tool_use"]
    assert not waiting


def assert_gemini_accepts(contents):
    assert_alternates([content["role"] for content in contents], "model")
    waiting = []
    for content in contents:
        assert content["parts"]
        assert [part["functionResponse"]["name"] for part in content["parts"] if "functionResponse" in part] == waiting
        waiting = [part["functionCall"]["name"] for part in content["parts"] if "functionCall" in part]
    assert not waiting


@given(turns=TURNS, activations=st.integers(0, 3), task=st.sampled_from(["", "Primary: x"]))
def test_no_history_makes_a_provider_refuse(turns, activations, task):
    made = context(*turns, activations=activations, task=task)

    assert_openai_accepts(made.as_openai())
    assert_anthropic_accepts(made.as_anthropic()["messages"])
    assert_gemini_accepts(made.as_gemini()["contents"])


@given(turns=TURNS)
def test_every_word_reaches_every_provider(turns):
    made = context(*turns)
    expected = sum(message.text().count("hello") for message in made.messages)

    for form in (made.as_openai(), made.as_anthropic(), made.as_gemini()):
        assert json.dumps(form).count("hello") == expected


def scribble(value):
    """Change everything that can be changed, as a careless caller might."""
    for item in value.values() if isinstance(value, dict) else value if isinstance(value, list) else ():
        scribble(item)
    if isinstance(value, dict | list):
        value.clear()


@pytest.mark.parametrize("form", ["as_openai", "as_anthropic", "as_gemini"])
def test_a_caller_may_do_what_it_likes_with_what_it_was_given(form):
    args = {"deep": ["list", {"x": 1}]}
    made = context(
        ("user", [text("hi"), {"type": "image", "url": PIXEL}]),
        ("assistant", [call("a", args)]),
        ("tool", [result("a", args)]),
        activations=2,
    )
    messages, first = repr(made.messages), json.dumps(getattr(made, form)())
    scribble(getattr(made, form)())

    assert repr(made.messages) == messages
    assert json.dumps(getattr(made, form)()) == first


def test_a_failed_tool_is_said_to_have_failed():
    turns = [("assistant", [call("a")]), ("tool", [result("a", "no such city", is_error=True)])]

    assert openai(*turns)[1]["content"] == "Error: no such city"
    assert anthropic(*turns)[-1]["content"][0]["is_error"] is True
    assert gemini(*turns)[-1]["parts"][0]["functionResponse"]["response"] == {"error": "no such city"}


def test_a_raw_system_message_keeps_its_role_where_the_provider_knows_it():
    wrapped = "<system-reminder>\nbe brief\n</system-reminder>"

    assert openai(("system", "be brief")) == [{"role": "system", "content": "be brief"}]
    assert anthropic(("system", "be brief"))[0]["content"][0]["text"] == wrapped
    assert gemini(("system", "be brief")) == [{"role": "user", "parts": [{"text": wrapped}]}]


def test_a_data_image_is_sent_as_each_provider_wants_it():
    turn = ("user", [text("see"), {"type": "image", "url": PIXEL}])

    assert openai(turn)[0]["content"][1] == {"type": "image_url", "image_url": {"url": PIXEL}}
    source = anthropic(turn)[0]["content"][1]["source"]
    assert source == {"type": "base64", "media_type": "image/png", "data": "iVBORw0KGgo="}
    assert gemini(turn)[0]["parts"][1] == {"inlineData": {"mimeType": "image/png", "data": "iVBORw0KGgo="}}


def test_an_image_on_the_web_is_sent_by_its_address():
    turn = ("user", [{"type": "image", "url": "https://example.org/a.png", "mime": "image/png"}])

    assert openai(turn)[0]["content"][0]["image_url"] == {"url": "https://example.org/a.png"}
    assert anthropic(turn)[0]["content"][0]["source"] == {"type": "url", "url": "https://example.org/a.png"}
    assert gemini(turn)[0]["parts"][0]["fileData"]["fileUri"] == "https://example.org/a.png"


def test_the_whole_memory_is_the_system_text_of_each_provider():
    made = context(("user", "hi"), activations=2, reflected=True)
    texts = [block.text for block in made.blocks if block.role == "system"]

    assert made.as_openai()[0] == {"role": "system", "content": "\n\n".join(texts)}
    assert [part["text"] for part in made.as_anthropic()["system"]] == texts
    assert [part["text"] for part in made.as_gemini()["system_instruction"]["parts"]] == texts


def test_nothing_makes_an_empty_request():
    made = context()

    assert made.as_openai() == []
    assert made.as_anthropic() == {"system": [], "messages": []}
    assert made.as_gemini() == {"contents": []}

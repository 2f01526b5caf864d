import json
import re
from datetime import UTC, datetime

import pytest
from hypothesis import given
from hypothesis import strategies as st
from provider_requests import anthropic, call, gemini, openai, result, text

from om_api.context.turns import Turns, _arranged, _told_apart
from om_api.domain.messages import Message

UNPAIRED = {
    "an unanswered call at the end": [("user", "hi"), ("assistant", [call("a", {"q": 1})])],
    "an unanswered call": [("assistant", [call("a", {"q": 1})]), ("user", "hi")],
    "a result alone": [("tool", [result("a")]), ("user", "hi")],
    "a result too late": [("assistant", [call("a", {"q": 1})]), ("user", "wait"), ("tool", [result("a")])],
    "a call without an id, of another tool": [
        ("assistant", [call("", {"q": 1})]),
        ("tool", [{**result(""), "name": "look_b"}]),
    ],
}


@pytest.mark.parametrize("turns", UNPAIRED.values(), ids=UNPAIRED)
@pytest.mark.parametrize("form", [openai, anthropic, gemini])
def test_what_has_no_counterpart_right_beside_it_becomes_text(turns, form):
    sent = json.dumps(form(*turns))
    kinds = {part["type"] for _, content in turns if isinstance(content, list) for part in content}

    assert not any(
        word in sent for word in ("tool_calls", "tool_use", "tool_result", "functionCall", "functionResponse")
    )
    assert ("[tool call look_" in sent) == ("tool-call" in kinds)
    assert ("[tool result look_" in sent) == ("tool-result" in kinds)


def test_only_the_answered_of_two_calls_is_a_call():
    first, second, third = openai(("assistant", [call("a"), call("b")]), ("tool", [result("b")]), ("user", "so?"))

    assert [made["id"] for made in first["tool_calls"]] == ["b"]
    assert first["content"] == "[tool call look_a {}]"
    assert (second["tool_call_id"], third["content"]) == ("b", "so?")


def test_parallel_calls_written_as_messages_of_their_own_are_one_turn():
    sent = openai(
        ("assistant", [call("a")]), ("assistant", [call("b")]), ("tool", [result("b")]), ("tool", [result("a")])
    )

    assert [made["id"] for made in sent[0]["tool_calls"]] == ["a", "b"]
    assert [message["tool_call_id"] for message in sent[1:]] == ["a", "b"]


def test_calls_and_results_within_one_message_become_turns_in_their_order():
    sent = openai(("assistant", [call("a"), result("a"), call("b"), result("b"), text("done")]))

    assert [message["role"] for message in sent] == ["assistant", "tool", "assistant", "tool", "assistant"]


def test_a_result_beside_a_users_words_comes_before_them():
    sent = anthropic(("user", "hi"), ("assistant", [call("a")]), ("user", [text("and?"), result("a")]))

    assert [part["type"] for part in sent[-1]["content"]] == ["tool_result", "text"]


def test_a_repeated_result_is_sent_once_and_told_once():
    sent = openai(("assistant", [call("a")]), ("tool", [result("a", "one")]), ("tool", [result("a", "two")]))

    assert [message["content"] for message in sent[1:]] == ["one", "[tool result look_a] two"]


@pytest.mark.parametrize("name", ["call.1/x", "x" * 41, "ключ"])
def test_an_id_that_would_be_refused_is_replaced_in_call_and_result_alike(name):
    first, second = openai(("assistant", [call(name)]), ("tool", [result(name)]))

    assert first["tool_calls"][0]["id"] == second["tool_call_id"]
    assert re.fullmatch("call_[0-9a-f]{24}", second["tool_call_id"])


@pytest.mark.parametrize(
    ("name", "expected"), [("files.read all!", "files_read_all_"), ("", "unnamed"), (None, "unnamed")]
)
def test_a_name_that_would_be_refused_is_replaced(name, expected):
    sent = openai(("assistant", [{**call("a"), "name": name}]), ("tool", [result("a")]))

    assert sent[0]["tool_calls"][0]["function"]["name"] == expected


NOON = int(datetime(2025, 12, 30, 12, tzinfo=UTC).timestamp() * 1000)
NAMES = st.sampled_from(["a", "b", "a-2"])
CALL = st.builds(lambda name: {"type": "tool-call", "tool_call_id": name, "name": "look", "args": {"q": name}}, NAMES)
RESULT = st.builds(lambda name: {"type": "tool-result", "tool_call_id": name, "result": "found"}, NAMES)
TEXT = st.builds(lambda text: {"type": "text", "text": text}, st.sampled_from(["", " ", "hello", "<observations>"]))
CONTENT = st.sampled_from(["", "hello", "</thread>"]) | st.lists(CALL | RESULT | TEXT, min_size=1, max_size=3)
TALK = st.lists(st.tuples(st.sampled_from(["user", "assistant", "system", "tool"]), CONTENT), max_size=12)
WINDOWS = st.lists(st.tuples(st.integers(0, 12), st.integers(0, 12)), min_size=1, max_size=5)


def said(talk):
    return [Message(id=f"m{n}", role=role, content=content, at=NOON + n) for n, (role, content) in enumerate(talk)]


def turns(messages):
    return _told_apart(_arranged(messages, [None] * len(messages)), set())


@given(talk=TALK, windows=WINDOWS)
def test_turns_are_what_they_would_be_if_all_were_arranged_anew(talk, windows):
    messages, arranged = said(talk), Turns()
    for first, length in windows:
        window = messages[first : first + length]

        assert arranged(window) == turns(window)


@given(talk=TALK)
def test_turns_of_a_talk_that_goes_on_are_those_of_the_whole(talk):
    messages, arranged = said(talk), Turns()

    assert [arranged(messages[:n]) for n in range(len(messages) + 1)] == [
        turns(messages[:n]) for n in range(len(messages) + 1)
    ]


def test_a_blank_message_between_two_calls_of_one_turn_cuts_it_nowhere():
    calls = [{"type": "tool-call", "tool_call_id": name, "name": "look", "args": {}} for name in "ab"]
    results = [{"type": "tool-result", "tool_call_id": name, "result": "found"} for name in "ab"]
    talk = [("assistant", calls[:1]), ("user", " "), ("assistant", calls[1:]), ("tool", results), ("user", "thanks")]
    messages, arranged = said(talk), Turns()
    arranged(messages[:3])

    assert arranged(messages) == turns(messages)
    assert [len(turn.calls) for turn in turns(messages)] == [2, 0, 0]


def test_a_turn_that_goes_on_is_not_cut_behind_a_message_of_several_calls():
    calls = [{"type": "tool-call", "tool_call_id": name, "name": "look", "args": {}} for name in "abc"]
    results = [{"type": "tool-result", "tool_call_id": name, "result": "found"} for name in "abc"]
    messages, arranged = said([("assistant", calls[:2]), ("assistant", calls[2:]), ("tool", results)]), Turns()
    arranged(messages[:2])

    assert [len(turn.calls) for turn in arranged(messages)] == [3, 0]

"""An answer changes what its point permits, and nothing of one that says anything else counts."""

import json

import pytest

from om_api.hooks.answers import MOST_ADDED, merged
from om_api.hooks.examples import EXAMPLES
from om_api.hooks.faults import AnswerError

MESSAGES = [{"id": name, "role": "user", "content": name, "at": 1} for name in ("a", "b", "c")]
GIVEN = {
    **{point: {"point": point, **given} for point, given in EXAMPLES.items()},
    "before_observe": {"point": "before_observe", "resource": "r", "messages": MESSAGES},
    "after_observe": {
        "point": "after_observe", "text": "* x", "task": "t", "suggestion": "s", "extracted": {"mood": "calm"},
    },
    "before_reflect": {"point": "before_reflect", "texts": ["* one", "* two"]},
}  # fmt: skip


def answered(point, answer):
    return merged(point, GIVEN[point], json.dumps(answer).encode())


def test_nothing_and_what_was_given_change_nothing():
    for point in EXAMPLES:
        for answer in (None, {}, GIVEN[point]):
            assert answered(point, answer) == GIVEN[point], point


def test_what_a_point_permits_is_changed_and_nothing_else():
    for point, answer in (
        ("after_observe", {"text": "", "task": "other"}),
        ("after_observe", {"suggestion": "", "extracted": {}}),
        ("before_reflect", {"texts": ["", "* two"]}),
        ("after_reflect", {"text": "* other"}),
        ("before_context", {"add": "It rains."}),
        ("before_observe", {"messages": []}),
    ):
        assert answered(point, answer) == GIVEN[point] | answer
    parts = [{"type": "text", "text": "x"}]
    given = [{"id": "a", "role": "system", "content": "x", "at": 9}, {"id": "c", "content": parts}]
    assert answered("before_observe", {"messages": given})["messages"] == [
        {"id": "a", "role": "user", "content": "x", "at": 1},  # a role is not a hook's to change
        {"id": "c", "role": "user", "content": parts, "at": 1},
    ]


def test_nonsense_is_refused_and_says_what_is_permitted():
    observe = "before_observe"
    for point, answer, why in (
        (observe, [], "no JSON object"),
        (observe, {"mesages": []}, "'mesages'; permitted: messages"),
        (observe, {"messages": "all"}, "a list of objects with id and content"),
        (observe, {"messages": [{"id": "d", "content": "x"}]}, "'d' was not given"),
        (observe, {"messages": [{"id": "b", "content": "x"}, {"id": "a", "content": "y"}]}, "in their order"),
        (observe, {"messages": [{"id": "a", "content": "x"}] * 2}, "'a' was not given"),
        (observe, {"messages": [{"id": "a", "content": 7}]}, "a list of objects"),
        (observe, {"messages": [{"id": "a", "content": [{"type": "text"}]}]}, "text part needs a text"),
        ("after_observe", {"text": 7}, "permitted: a text"),
        ("after_observe", {"extracted": {"mood": 7}}, "texts by their names"),
        ("after_observe", {"extracted": {"other": "x"}}, "'other', which it was not given"),
        ("before_reflect", {"texts": ["one"]}, "1 texts; permitted: 2"),
        ("before_reflect", {"texts": ["", " "]}, "nothing would be left"),
        ("after_reflect", {"text": " "}, "cannot say nothing"),
        ("before_context", {"add": "x" * (MOST_ADDED + 1)}, "permitted: 8,000"),
        ("before_context", {"text": "x"}, "'text'; permitted: add"),
    ):
        with pytest.raises(AnswerError, match=why):
            answered(point, answer)
            pytest.fail(f"{point} permits {answer}")
    for answer in (b"", b"{", b"\xff", b"7", b"[" * 100_000):
        with pytest.raises(AnswerError, match="no JSON object"):
            merged("after_reflect", GIVEN["after_reflect"], answer)


def test_what_several_hooks_add_stands_together_within_one_bound():
    first = answered("before_context", {"add": "It rains."})
    both = merged("before_context", first, b'{"add": "It is late."}')

    assert both["add"] == "It rains.\nIt is late."
    assert merged("before_context", both, json.dumps(both).encode()) == both
    with pytest.raises(AnswerError, match="of all hooks together"):
        merged("before_context", both, json.dumps({"add": "x" * 7_990}).encode())

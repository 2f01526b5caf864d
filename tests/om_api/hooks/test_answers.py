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


@pytest.mark.parametrize("point", EXAMPLES)
@pytest.mark.parametrize("answer", [None, {}, "itself"])
def test_nothing_and_what_was_given_change_nothing(point, answer):
    assert answered(point, GIVEN[point] if answer == "itself" else answer) == GIVEN[point]


@pytest.mark.parametrize(
    ("point", "answer"),
    [
        (
            "before_observe",
            {"messages": [{"id": "a", "content": "other"}, {"id": "c", "content": [{"type": "text", "text": "x"}]}]},
        ),
        ("before_observe", {"messages": []}),
        ("after_observe", {"text": "", "task": "other"}),
        ("after_observe", {"suggestion": "", "extracted": {}}),
        ("before_reflect", {"texts": ["", "* two"]}),
        ("after_reflect", {"text": "* other"}),
        ("before_context", {"add": "It rains."}),
    ],
)
def test_what_a_point_permits_is_changed_and_nothing_else(point, answer):
    found = answered(point, answer)

    named = {each["id"]: each for each in answer.get("messages", [])}
    wanted = [{**each, **named[each["id"]]} for each in MESSAGES if each["id"] in named]
    assert found == GIVEN[point] | answer | ({"messages": wanted} if "messages" in answer else {})


def test_a_role_is_not_a_hooks_to_change():
    found = answered("before_observe", {"messages": [{"id": "a", "role": "system", "content": "x", "at": 9}]})

    assert found["messages"] == [{"id": "a", "role": "user", "content": "x", "at": 1}]


@pytest.mark.parametrize(
    ("point", "answer", "why"),
    [
        ("before_observe", [], "no JSON object"),
        ("before_observe", {"mesages": []}, "'mesages'; permitted: messages"),
        ("before_observe", {"messages": "all"}, "a list of objects with id and content"),
        ("before_observe", {"messages": [{"id": "d", "content": "x"}]}, "'d' was not given"),
        ("before_observe", {"messages": [{"id": "b", "content": "x"}, {"id": "a", "content": "y"}]}, "in their order"),
        ("before_observe", {"messages": [{"id": "a", "content": "x"}] * 2}, "'a' was not given"),
        ("before_observe", {"messages": [{"id": "a", "content": 7}]}, "a list of objects"),
        ("before_observe", {"messages": [{"id": "a", "content": [{"type": "text"}]}]}, "text part needs a text"),
        ("after_observe", {"text": 7}, "permitted: a text"),
        ("after_observe", {"extracted": {"mood": 7}}, "texts by their names"),
        ("after_observe", {"extracted": {"other": "x"}}, "'other', which it was not given"),
        ("before_reflect", {"texts": ["one"]}, "1 texts; permitted: 2"),
        ("before_reflect", {"texts": ["", " "]}, "nothing would be left"),
        ("after_reflect", {"text": " "}, "cannot say nothing"),
        ("before_context", {"add": "x" * (MOST_ADDED + 1)}, "permitted: 8,000"),
        ("before_context", {"text": "x"}, "'text'; permitted: add"),
    ],
)
def test_nonsense_is_refused_and_says_what_is_permitted(point, answer, why):
    with pytest.raises(AnswerError, match=why):
        answered(point, answer)


@pytest.mark.parametrize("answer", [b"", b"{", b"\xff", b"7", b"[" * 100_000])
def test_what_is_no_json_object_is_refused(answer):
    with pytest.raises(AnswerError, match="no JSON object"):
        merged("after_reflect", GIVEN["after_reflect"], answer)


def test_what_several_hooks_add_stands_together_within_one_bound():
    first = answered("before_context", {"add": "It rains."})
    both = merged("before_context", first, b'{"add": "It is late."}')

    assert both["add"] == "It rains.\nIt is late."
    assert merged("before_context", both, json.dumps(both).encode()) == both
    with pytest.raises(AnswerError, match="of all hooks together"):
        merged("before_context", both, json.dumps({"add": "x" * 7_990}).encode())

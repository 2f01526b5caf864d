"""Which result answers which call, and where a view may begin so that no two of them are parted."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from om_api.domain.messages import Message
from om_api.domain.tool_calls import Exchange, exchanges, matched, named, whole_from


def call(name="", tool="f"):
    return {"type": "tool-call", "name": tool, "args": {}} | ({"tool_call_id": name} if name else {})


def result(name="", tool="f"):
    return {"type": "tool-result", "name": tool, "result": "x"} | ({"tool_call_id": name} if name else {})


def talk(*turns):
    roles = {str: "user", list: "assistant"}
    return [Message(role=roles[type(turn)], content=turn) for turn in turns]


def links(*turns):
    """Which message answers which: pairs of places."""
    made = exchanges(talk(*turns))
    places = {name: place for place, each in enumerate(made) for name in each.calls}
    return [(places[name], place) for place, each in enumerate(made) for name in each.answers if name in places]


def test_words_call_and_answer_nothing_and_ids_are_taken_as_they_are():
    made = exchanges(talk("hi", [call("a"), call("b")], [result("a")], [result("gone")]))

    assert made == [
        Exchange(),
        Exchange(calls=frozenset("ab")),
        Exchange(answers=frozenset("a")),
        Exchange(answers=frozenset({"gone"})),
    ]


@pytest.mark.parametrize(
    ("turns", "pairs"),
    [
        ([[call()], [result()]], [(0, 1)]),
        ([[call(), call()], [result()], [result()]], [(0, 1), (0, 2)]),
        ([[call()], [result()], [call()], [result()]], [(0, 1), (2, 3)]),
        ([[call(tool="g")], [call()], [result()], [result(tool="g")]], [(1, 2), (0, 3)]),
        ([[call("a")], [result()]], [(0, 1)]),
        ([[call()], [result("a")]], [(0, 1)]),
        ([[call("b")], [result("a")]], []),
        ([[call("a")], [result("a")], [result()]], [(0, 1)]),
        ([[call()], [result(tool="g")]], []),
        ([[result()], [call()]], []),
    ],
)
def test_what_has_no_id_is_paired_by_name_in_order(turns, pairs):
    assert links(*turns) == pairs


def test_of_one_turn_each_call_has_its_result_in_the_order_of_the_calls():
    calls = [call("a"), call("b"), call(), call("c", "g"), call("a")]
    results = [result("c"), result("b"), result("a"), result("", "g"), result("d"), result("a")]

    assert matched(calls, results) == [
        (calls[0], results[2]),
        (calls[1], results[1]),
        (calls[2], results[4]),
        (calls[3], results[0]),
    ]


@pytest.mark.parametrize(
    ("first", "begins"),
    [(0, 0), (1, 1), (2, 4), (3, 4), (4, 4), (5, 5)],
)
def test_a_view_begins_behind_what_it_would_part(first, begins):
    assert whole_from(talk("hi", [call("a"), call("b")], [result("a")], [result("b")], "so?", "yes"), first) == begins


def test_an_exchange_of_the_newest_message_is_shown_whole():
    messages = talk("hi", [call("a"), call("b")], ["let me see"], [result("b")], [result("a")])

    assert [whole_from(messages, first) for first in range(5)] == [0, 1, 1, 1, 1]


def test_what_someone_spoke_into_is_not_brought_back():
    """A call a long way back would take room that the view has not, and stands apart from its result anyway."""
    messages = talk("hi", [call("a")], "wait", "still", [result("a")])

    assert [whole_from(messages, first) for first in range(5)] == [0, 1, 2, 3, 4]


PART = st.builds(
    lambda make, name, tool: make(name, tool),
    st.sampled_from([call, result]),
    st.sampled_from(["", "", "a", "b"]),
    st.sampled_from("fg"),
)
TALK = st.lists(st.just("hi") | st.lists(PART, min_size=1, max_size=3), min_size=1, max_size=12)


@given(turns=TALK, first=st.integers(0, 11))
def test_no_view_parts_a_call_from_its_first_result_if_nobody_spoke_between(turns, first):
    messages = talk(*turns)
    begins = whole_from(messages, min(first, len(messages) - 1))
    answered = dict(reversed(links(*turns)))

    assert 0 <= begins < len(messages)
    for asked, answer in answered.items():
        if asked < begins <= answer:
            assert any(isinstance(turn, str) for turn in turns[asked:answer])


def test_a_result_says_the_name_that_its_call_has():
    names = {}
    asked, told, *others = talk(
        [call("c-1")], [result("c-1", "")], [result("c-2", "")], [result("c-1", "g")], [result("", "")]
    )

    assert named(asked, names) is asked
    assert named(told, names).content == [result("c-1", "f")]
    assert told.content == [result("c-1", "")]
    assert [named(other, names) for other in others] == others

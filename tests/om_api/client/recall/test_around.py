"""Turns beside a message: across chunks, and never a call without its results or a result without its call."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from om_api.client.recall.around import surroundings, window
from om_api.domain.messages import Message
from om_api.store.index.segments import Stretch

ORDER = [Stretch("t1", "c1", 0, 2), Stretch("t1", "c2", 0, 0), Stretch("t1", "c3", 0, 3), Stretch("t1", "", 0, 1)]
PLACES = [(each.chunk, place) for each in ORDER for place in range(each.size)]  # of all messages, oldest first


def names(found):
    return [(each.chunk, place) for each in found.stretches for place in range(each.first, each.last + 1)]


@given(st.integers(0, len(PLACES) - 1), st.integers(0, 12), st.integers(0, 12))
def test_a_window_holds_so_many_messages_before_and_after_across_chunks(at, before, after):
    found = window(ORDER, *PLACES[at], before, after)

    assert names(found) == PLACES[max(at - before, 0) : at + after + 1]
    assert names(found)[found.place] == PLACES[at]
    assert (found.earlier, found.later) == (at - before > 0, at + after < len(PLACES) - 1)


def said(name, role="user"):
    return Message(role=role, content=name, id=name)


def call(*ids, text=""):
    parts = [{"type": "tool-call", "tool_call_id": one, "name": "look", "args": {}} for one in ids]
    spoken = [{"type": "text", "text": text}] if text else []
    return Message(role="assistant", content=[*spoken, *parts], id=f"call-{'-'.join(ids)}")


def result(one):
    return Message(
        role="tool",
        content=[{"type": "tool-result", "tool_call_id": one, "name": "look", "result": "x"}],
        id=f"result-{one}",
    )


def beside(messages, at, before=1, after=1):
    found = surroundings(messages, at, before, after)
    return [each.id for each in (*found.before, found.message, *found.after)], found


TALK = [said("a"), call("1", "2"), result("1"), result("2"), said("b", "assistant"), said("c"), said("d")]
EXCHANGE = ["call-1-2", "result-1", "result-2"]


@pytest.mark.parametrize(
    ("at", "around", "shown"),
    [
        (0, 0, ["a"]),
        (0, 1, ["a", *EXCHANGE]),  # of two that were called at once both are answered
        (1, 0, EXCHANGE),
        (2, 0, EXCHANGE),
        (3, 0, EXCHANGE),  # the second result, whose call stands two before it
        (4, 1, [*EXCHANGE, "b", "c"]),
        (5, 1, ["b", "c", "d"]),
        (6, 9, ["a", *EXCHANGE, "b", "c", "d"]),
    ],
)
def test_a_call_stands_with_its_results(at, around, shown):
    ids, found = beside(TALK, at, around, around)

    assert ids == shown
    assert found.whole
    assert (found.earlier, found.later) == (shown[0] != "a", shown[-1] != "d")


def test_turns_beside_a_message_whose_exchange_was_not_read_to_its_end_are_left_out():
    early, first = beside([result("0"), said("b"), said("c")], 2, 2, 0)
    late, last = beside([said("a"), said("b"), call("1", "2"), result("1")], 0, 0, 3)

    assert (early, first.earlier, first.whole) == (["b", "c"], True, True)
    assert (late, last.later, last.whole) == (["a", "b"], True, True)


@pytest.mark.parametrize(
    ("messages", "at"),
    [
        ([result("2"), said("a")], 0),
        ([said("a"), call("1", "2"), result("1")], 1),
        ([said("a"), call("1", "2"), result("1")], 2),
        ([result("0"), said("b")], 1),
        ([said("a"), call("1")], 0),
    ],
    ids=[
        "its call",
        "its results",
        "another result of its call",
        "nothing is left before it",
        "nothing is left after it",
    ],
)
def test_what_was_not_read_far_enough_says_so(messages, at):
    assert not surroundings(messages, at, 1, 1).whole


@pytest.mark.parametrize(
    ("messages", "at", "shown"),
    [
        ([said("a"), call("1"), said("b"), said("c")], 2, ["call-1", "b", "c"]),
        ([said("a"), result("0"), said("b")], 2, ["result-0", "b"]),
    ],
    ids=["nobody answered", "nobody called"],
)
def test_what_will_never_have_its_other_half_stands_alone(messages, at, shown):
    """Somebody has spoken since: left out, nobody could page beyond it."""
    ids, found = beside(messages, at)

    assert (ids, found.whole) == (shown, True)


def test_a_result_without_an_id_belongs_to_the_call_of_its_tool():
    """As Gemini writes them; without its call, it is one that was not read to its beginning."""
    asked = Message(role="assistant", content=[{"type": "tool-call", "name": "look", "args": {}}], id="call")
    given = Message(role="tool", content=[{"type": "tool-result", "name": "look", "result": "x"}], id="result")

    assert beside([said("a"), asked, given, said("b")], 3)[0] == ["call", "result", "b"]
    assert beside([given, said("b"), said("c")], 2, 2, 0)[0] == ["b", "c"]


def test_a_name_of_a_call_that_comes_again_is_answered_each_time_by_the_next():
    talk = [call("1"), result("1"), said("b"), said("c"), call("1"), result("1")]

    assert beside(talk, 1, 0, 0)[0] == ["call-1", "result-1"]
    assert beside(talk, 4, 0, 0)[0] == ["call-1", "result-1"]
    assert beside(talk, 2, 1, 0)[0] == ["call-1", "result-1", "b"]


def test_what_is_no_message_is_passed_over():
    ids, found = beside([None, said("a"), None, said("b"), None, said("c")], 3)

    assert ids == ["a", "b", "c"]
    assert (found.earlier, found.later) == (False, False)
    with pytest.raises(LookupError):
        surroundings([said("a"), None], 1, 1, 1)


_CALLS = st.lists(st.sampled_from(["user", "speak", "call 1", "call 2", "answer"]), min_size=1, max_size=14)


@given(_CALLS, st.data())
def test_whatever_is_called_and_answered_no_half_is_shown_where_the_whole_was_read(kinds, data):
    messages, open_, made = [], [], 0
    for kind in kinds:
        if kind.startswith("call"):
            ids = [str(made := made + 1) for _ in range(int(kind[-1]))]
            open_ += ids
            messages.append(call(*ids))
        elif kind == "answer" and open_:
            messages.append(result(open_.pop(0)))
        else:
            messages.append(said(f"m{len(messages)}", "user" if kind == "user" else "assistant"))
    at = data.draw(st.integers(0, len(messages) - 1))
    shown, found = beside(messages, at, data.draw(st.integers(0, 5)), data.draw(st.integers(0, 5)))

    ids = [message.id for message in messages]
    first = ids.index(shown[0])
    assert ids[first : first + len(shown)] == shown  # nothing between is left out
    for each in messages:
        for part in each.parts if found.whole else ():
            if part["type"] == "tool-call" and f"result-{part['tool_call_id']}" in ids:
                assert (each.id in shown) == (f"result-{part['tool_call_id']}" in shown)

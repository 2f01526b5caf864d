"""Turns beside a message: across chunks, and never a call without its results or a result without its call."""

from hypothesis import given
from hypothesis import strategies as st

from om_api.client.recall import around
from om_api.client.recall.around import surroundings, window
from om_api.domain.messages import Message
from om_api.domain.tool_calls import Exchange
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


def test_what_will_never_have_its_other_half_stands_alone():
    """Somebody has spoken since: left out, nobody could page beyond it."""
    for messages, at, shown in [
        ([said("a"), call("1"), said("b"), said("c")], 2, ["call-1", "b", "c"]),
        ([said("a"), result("0"), said("b")], 2, ["result-0", "b"]),
    ]:
        ids, found = beside(messages, at)
        assert (ids, found.whole) == (shown, True), messages


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


def test_calls_without_results_are_looked_up_once_each(monkeypatch):
    looked = []

    class Answers(frozenset):
        def __contains__(self, name):
            looked.append(name)
            return super().__contains__(name)

    said = [Exchange(frozenset(map(str, range(1_000))), frozenset()), *[Exchange(frozenset(), Answers("x"))] * 50]
    monkeypatch.setattr(around, "exchanges", lambda _: said)
    messages = [Message(role="assistant", content="ok")] * len(said)
    assert not surroundings(messages, 0, 1, 1).whole
    assert len(looked) < 2_000

import pytest
from snapshots import NOON, context, kinds, observed, said, snapshot

from om_api.context.rendering import first_shown
from om_api.domain.messages import Message


def ten(**fields):
    return snapshot([said("x", NOON + i, id=f"m{i}", tokens=100) for i in range(10)], **fields)


@pytest.mark.parametrize(("cap", "shown"), [(None, 10), (1000, 10), (999, 9), (250, 2), (100, 1), (99, 1), (0, 1)])
def test_a_cap_leaves_out_the_oldest_messages_but_never_the_newest(cap, shown):
    made = context(ten(), max_tokens=cap)

    assert (len(made.messages), made.omitted) == (shown, 10 - shown)
    assert made.messages[-1].id == "m9"
    assert made.tokens == 100 * shown


def test_the_cap_counts_the_memory_too():
    made = context(ten(observations=[observed(1)]), max_tokens=800)

    assert 0 < made.omitted < 10
    assert 700 < made.tokens <= 800
    assert kinds(made)[:3] == ["preamble", "observations", "continuation"]


def test_an_argument_comes_before_the_views_cap():
    assert context(ten(), context_max_tokens=300).omitted == 7
    assert context(ten(), max_tokens=500, context_max_tokens=300).omitted == 5


def test_a_result_whose_call_was_left_out_is_left_out_too():
    calls = [{"type": "tool-call", "tool_call_id": name, "name": "look", "args": {}} for name in "ab"]
    results = [{"type": "tool-result", "tool_call_id": name, "name": "look", "result": "x"} for name in "ab"]
    read = snapshot(
        [
            said(calls, 1, "assistant", tokens=100),
            said(results[:1], 2, "tool", tokens=100),
            said(results[1:], 3, "tool", tokens=100),
            said("done", 4, "assistant", tokens=100),
        ]
    )

    assert [message.content for message in context(read, max_tokens=300).messages] == ["done"]
    assert context(read, max_tokens=300).omitted == 3
    assert context(read, max_tokens=400).omitted == 0


def test_a_newest_result_is_shown_with_its_call_whatever_the_cap():
    result = [{"type": "tool-result", "tool_call_id": "a", "name": "look", "result": "x"}]
    call = [{"type": "tool-call", "tool_call_id": "a", "name": "look", "args": {}}]
    read = snapshot([said(call, 1, "assistant", tokens=100), said(result, 2, "tool", tokens=100)])

    assert [message.role for message in context(read, max_tokens=100).messages] == ["assistant", "tool"]


def talked(talk):
    return [Message(id=f"m{n}", role=role, content=content, at=NOON + n) for n, (role, content) in enumerate(talk)]


def test_of_no_messages_none_is_the_first_though_there_is_less_than_no_room():
    assert first_shown([], [], -1) == 0


def test_a_result_is_left_out_with_its_call_however_long_the_chain():
    """The third message answers the first one's call and makes another: both go, and so does the answer to that one."""
    call = {name: {"type": "tool-call", "tool_call_id": name, "name": "look", "args": {}} for name in "ab"}
    result = {name: {"type": "tool-result", "tool_call_id": name, "result": "found"} for name in "ab"}
    talk = talked(
        [("assistant", [call["a"]]), ("tool", [result["a"], call["b"]]), ("tool", [result["b"]]), ("user", "x")]
    )

    assert [first_shown(talk, [10] * 4, room) for room in (40, 39, 20, 10)] == [0, 3, 3, 3]

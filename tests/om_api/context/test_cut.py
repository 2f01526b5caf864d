import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from snapshots import NOON, context, kinds, observed, said, snapshot, volatile

from om_api.context import FORMS
from om_api.context.cut import first_shown, first_turn
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


# -- whole turns ----------------------------------------------------------------------------------------------------------

CALL = {"type": "tool-call", "tool_call_id": "a", "name": "look", "args": {}}
RESULT = {"type": "tool-result", "tool_call_id": "a", "name": "look", "result": "found"}
TURN = [("user", "do it"), ("assistant", [CALL]), ("tool", [RESULT]), ("assistant", "done")]


def shown(talk, tokens, room):
    return first_turn(talked(talk), tokens, room)


def test_what_has_room_is_shown_whole():
    assert [shown(TURN, [100] * 4, room) for room in (None, 400, 401)] == [0, 0, 0]
    assert shown([], [], 0) == 0


def test_whole_turns_are_left_out_the_oldest_first():
    """Eight turns of 400 tokens in a room of 1,600, of which a step is 400."""
    assert shown(TURN * 8, [100] * 32, 1_600) == 16
    assert shown(TURN * 8, [100] * 32, 3_199) == 8
    assert shown(TURN * 8, [100] * 32, 1_500) == 20  # a step ends within a turn, and before its last message


def test_the_cut_stands_still_until_a_step_is_full():
    """Catches a cut that goes on with every message: whatever a provider cached of the conversation would be lost."""
    talk, room = [("user", "x"), ("assistant", "y")] * 1_000, 20_000
    cuts = [shown(talk[:n], [100] * n, room) for n in range(201, 1_000)]
    left = [100 * (n - cut) for n, cut in enumerate(cuts, 201)]

    assert len(set(cuts)) == 16
    assert 15_000 <= min(left) <= max(left) <= room
    assert all(cut % 2 == 0 for cut in cuts)


@pytest.mark.parametrize(
    ("sizes", "start"),
    [
        ([1_000, 5_500, 50], 1),  # a step would end within the second turn, and behind it next to nothing is left
        ([100, 100, 100, 5_900], 2),
        ([3_000, 3_000, 100, 100], 1),
    ],
)
def test_no_more_is_left_out_than_must_be_where_turns_are_large(sizes, start):
    assert shown([("user", "x")] * len(sizes), sizes, 6_000) == start


def test_a_turn_that_is_larger_than_the_room_is_cut_into_and_no_call_parted_from_its_result():
    work = [("user", "do it all"), *[("assistant", [CALL]), ("tool", [RESULT])] * 20, ("assistant", "done")]
    start = shown(work, [100] * len(work), 1_000)

    assert 0 < len(work) - start <= 10
    assert start % 2 == 1


def test_a_turn_larger_than_the_room_is_still_seen_when_the_user_goes_on():
    work = [("user", "do it all"), *[("assistant", [CALL]), ("tool", [RESULT])] * 20, ("user", "and?")]
    start = shown(work, [100] * len(work), 1_000)

    assert 6 <= len(work) - start <= 10


def test_what_came_after_a_message_that_is_larger_than_the_room_is_shown():
    assert (
        first_turn(talked([("user", "a book"), ("assistant", "read"), ("user", "and?")]), [70_000, 900, 100], 60_000)
        == 1
    )


@pytest.mark.parametrize("room", [0, 1, 99, 100])
def test_the_newest_message_is_shown_though_it_has_no_room(room):
    assert shown(TURN, [100] * 4, room) == 3


ROLES = st.sampled_from(["user", "assistant", "tool", "system"])
PARTS = st.lists(
    st.builds(
        lambda kind, name: {**kind, "tool_call_id": name}, st.sampled_from([CALL, RESULT]), st.sampled_from("abc")
    ),
    max_size=3,
)


@given(talk=st.lists(st.tuples(ROLES, PARTS, st.integers(0, 300)), max_size=30), room=st.integers(0, 3_000))
@example(talk=[("user", [CALL, RESULT], 1), ("user", [], 0), ("user", [RESULT], 0)], room=0)
def test_whatever_was_said_the_newest_is_shown_within_the_room_and_no_result_without_its_call(talk, room):
    messages = talked([(role, [*parts, {"type": "text", "text": "x"}]) for role, parts, _ in talk])
    tokens = [size for _, _, size in talk]
    start = first_turn(messages, tokens, room)

    assert start < len(messages) or start == len(messages) == 0
    assert sum(tokens[start:]) <= room or start == len(messages) - 1
    called: dict[str, int] = {}
    for place, message in enumerate(messages):
        answers = named(message, "tool-result") - named(message, "tool-call")
        parted = [name for name in answers if name in called and called.pop(name) < start <= place]
        assert not parted or start == len(messages) - 1
        called |= dict.fromkeys(named(message, "tool-call") - named(message, "tool-result"), place)


def named(message, kind):
    return {part["tool_call_id"] for part in message.parts if part["type"] == kind}


def test_a_context_says_how_many_messages_had_no_room_and_where_they_are():
    talk = [said(f"turn {n}", NOON + n, ("user", "assistant")[n % 2], tokens=100) for n in range(10)]
    made = context(snapshot(talk), raw_max_tokens=400)

    assert (made.omitted, len(made.messages), kinds(made)[-1]) == (6, 4, "volatile")
    assert "\n6 messages stand between your notes and the first message above" in volatile(made)
    assert "kept in your memory" in volatile(made)
    assert made.tokens == 400 + made.blocks[-1].tokens


def test_one_message_that_had_no_room_is_one_message():
    made = context(snapshot([said("x", NOON + n, tokens=100) for n in range(5)]), raw_max_tokens=400)

    assert "\n1 message stands between" in volatile(made)


@pytest.mark.parametrize("cap", [{"max_tokens": 100_000}, {"context_max_tokens": 100_000}])
def test_whoever_says_how_large_a_context_may_be_is_believed(cap):
    assert context(ten(), raw_max_tokens=300, **cap).omitted == 0
    assert context(ten(), raw_max_tokens=300).omitted == 8  # a step of 75 tokens, rounded up to messages


def test_nothing_before_the_raw_messages_changes_when_some_have_no_room():
    read = ten(observations=[observed(1)])
    whole, cut = context(read), context(read, raw_max_tokens=300)

    assert whole.blocks[:3] == cut.blocks[:3]
    assert kinds(cut)[:4] == ["preamble", "observations", "continuation", "day"]


def test_every_form_shows_the_same_messages_and_the_same_last_words():
    talk = [said(f"turn {n}", NOON + n, ("user", "assistant")[n % 2], tokens=100) for n in range(10)]
    made = context(snapshot(talk, [observed(1)]), raw_max_tokens=400)
    forms = [str(form(made)) for form in FORMS.values()]

    assert [[n for n in range(10) if f"turn {n}" in text] for text in forms] == [[6, 7, 8, 9]] * len(forms)
    assert all("6 messages stand between" in text for text in forms)

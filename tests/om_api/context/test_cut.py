from hypothesis import example, given
from hypothesis import strategies as st
from snapshots import NOON, context, said, snapshot

from om_api.context.cut import first_turn
from om_api.domain.messages import Message


def ten(**fields):
    return snapshot([said("x", NOON + i, id=f"m{i}", tokens=100) for i in range(10)], **fields)


def test_a_cap_leaves_out_the_oldest_messages_but_never_the_newest():
    for cap, shown in [(None, 10), (1000, 10), (999, 9), (250, 2), (99, 1), (0, 1)]:
        made = context(ten(), max_tokens=cap)
        assert (len(made.messages), made.omitted) == (shown, 10 - shown), cap
        assert made.messages[-1].id == "m9", cap
        assert made.tokens == 100 * shown, cap


def talked(talk):
    return [Message(id=f"m{n}", role=role, content=content, at=NOON + n) for n, (role, content) in enumerate(talk)]


CALL = {"type": "tool-call", "tool_call_id": "a", "name": "look", "args": {}}
RESULT = {"type": "tool-result", "tool_call_id": "a", "name": "look", "result": "found"}
TURN = [("user", "do it"), ("assistant", [CALL]), ("tool", [RESULT]), ("assistant", "done")]


def shown(talk, tokens, room):
    return first_turn(talked(talk), tokens, room)


def test_whole_turns_are_left_out_the_oldest_first():
    """Eight turns of 400 tokens in a room of 1,600, of which a step is 400."""
    assert shown(TURN * 8, [100] * 32, 1_600) == 16
    assert shown(TURN * 8, [100] * 32, 3_199) == 8
    assert shown(TURN * 8, [100] * 32, 1_500) == 20  # a step ends within a turn, and before its last message


def test_the_cut_stands_still_until_a_step_is_full():
    """Catches a cut that goes on with every message: whatever a provider cached of the conversation would be lost."""
    talk, room = [("user", "x"), ("assistant", "y")] * 1_000, 20_000
    cuts = [shown(talk[:n], [100] * n, room) for n in range(201, 1_000, 7)]
    left = [100 * (n - cut) for n, cut in zip(range(201, 1_000, 7), cuts, strict=True)]

    assert len(set(cuts)) == 16
    assert 15_000 <= min(left) <= max(left) <= room
    assert all(cut % 2 == 0 for cut in cuts)


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


def test_whoever_says_how_large_a_context_may_be_is_believed():
    for cap in [{"max_tokens": 100_000}, {"context_max_tokens": 100_000}]:
        assert context(ten(), raw_max_tokens=300, **cap).omitted == 0, cap
        assert context(ten(), raw_max_tokens=300).omitted == 8, cap  # a step of 75 tokens, rounded up to messages

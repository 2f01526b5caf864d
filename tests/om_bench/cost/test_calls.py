"""What each call of an agent brings, when, and how much is answered."""

from om_api.domain.messages import Message
from om_bench.cost.calls import AgentCall, calls_of, with_breaks


def test_a_call_brings_the_answer_before_it_and_what_is_new():
    roles = ("user", "assistant", "tool", "assistant", "assistant", "user", "assistant", "user")
    messages = [Message(id=f"m{n}", role=role, content="x", at=n * 1000) for n, role in enumerate(roles)]

    assert [[each.id for each in call.messages] for call in calls_of(messages, len)] == [
        ["m0"], ["m1", "m2"], ["m3", "m4", "m5"],
    ]  # fmt: skip
    assert [(call.at, call.output) for call in calls_of(messages, len)] == [(0, 5), (2, 5), (5, 5)]


def test_breaks_move_all_later_calls():
    calls = [AgentCall((), 0, at) for at in (0, 10, 20, 30)]

    assert with_breaks(calls, every=2, seconds=3600) == [0, 10, 3620, 3630]

"""What a call, a history and a whole bill cost."""

import json

import pytest
from benches import SMALL, cost

from om_api.domain.messages import Message
from om_api.domain.tokens import counter
from om_bench.cost import histories
from om_bench.cost.bills import Account, rates_of
from om_bench.cost.calls import calls_of
from om_bench.cost.wire import Piece, Sent, of_anthropic, of_openai, size


def test_a_call_costs_what_is_fresh_cached_written_and_answered():
    account = Account("claude-sonnet-4-6")  # 3 dollars a million, cached 0.30, answers 15; writing 1.25 x 3
    first = account.call(Sent(0, [Piece("a", 1_000_000, mark=True)], 1_000_000))
    second = account.call(Sent(60, [Piece("a", 1_000_000), Piece("b", 1_000_000)], 0))
    third = account.call(Sent(90, [Piece("a", 1_000_000, mark=True), Piece("c", 1_000_000)], 0))

    assert [first, second, third] == pytest.approx([18.75, 6.0, 3.3])
    assert account.bill.dollars == pytest.approx(28.05)
    assert (account.bill.fresh, account.bill.cached, account.bill.written) == (3_000_000, 1_000_000, 1_000_000)


def test_prices_are_those_of_one_hour_whenever_they_are_asked_for():
    assert rates_of("deepseek-v4-pro") == (0.66, 0.022, 1.98)  # its price changes with the hour


def test_a_call_brings_the_answer_before_it_and_what_is_new():
    roles = ("user", "assistant", "tool", "assistant", "assistant", "user", "assistant", "user")
    messages = [Message(id=f"m{n}", role=role, content="x", at=n * 1000) for n, role in enumerate(roles)]

    assert [[each.id for each in call.messages] for call in calls_of(messages, len)] == [
        ["m0"], ["m1", "m2"], ["m3", "m4", "m5"],
    ]  # fmt: skip
    assert [(call.at, call.output) for call in calls_of(messages, len)] == [(0, 5), (2, 5), (5, 5)]


@pytest.mark.nightly
def test_every_way_is_billed_for_the_same_answers_and_held_against_the_cached_history():
    lines = json.loads(cost(*SMALL, "--json").output)["lines"]
    cached = next(line for line in lines if line["strategy"] == "full history, cached")
    dollars = {line["observer"]: line["remembering"]["dollars"] for line in lines if line["strategy"] == "memory"}

    assert len({line["answering"]["output"] for line in lines}) == 1
    assert cached["factor"] == 1.0
    assert all(line["factor"] == pytest.approx(cached["dollars"] / line["dollars"]) for line in lines)
    assert dollars["extractive"] == 0
    assert dollars["gemini-2.5-flash-lite"] < dollars["gemini-2.5-flash"] < dollars["the actor's own model"]


ADDED = [[Piece(f"p{n}", 1000)] for n in range(6)]


SYSTEM = histories.prompt(2000)


def sizes(requests):
    return [size(pieces) for pieces in requests]


def test_a_whole_history_grows_and_a_window_slides_or_is_halved():
    assert sizes(histories.whole(SYSTEM, ADDED)) == [3000, 4000, 5000, 6000, 7000, 8000]
    assert sizes(histories.alone(SYSTEM, ADDED)) == [3000] * 6
    assert sizes(histories.sliding(SYSTEM, ADDED, 3000)) == [3000, 4000, 5000, 5000, 5000, 5000]
    assert sizes(histories.by_halves(SYSTEM, ADDED, 4000)) == [3000, 4000, 5000, 6000, 4000, 5000]


def test_a_request_counts_the_same_in_every_providers_form():
    args = {"path": "a.py"}
    calls = [{"id": "c", "type": "function", "function": {"name": "read", "arguments": '{"path":"a.py"}'}}]
    openai = [{"role": "system", "content": "notes\n\nmore"}, {"role": "assistant", "content": "see", "tool_calls": calls},
              {"role": "tool", "tool_call_id": "c", "content": "text"}]  # fmt: skip
    parts = [{"type": "text", "text": "see"}, {"type": "tool_use", "id": "c", "name": "read", "input": args}]
    result = {"type": "tool_result", "tool_use_id": "c", "content": "text", "cache_control": {}}
    anthropic = {"system": [{"type": "text", "text": "notes"}, {"type": "text", "text": "more"}],
                 "messages": [{"role": "assistant", "content": parts}, {"role": "user", "content": [result]}]}  # fmt: skip
    plain, marked = list(of_openai(openai, counter())), list(of_anthropic(anthropic, counter()))

    assert [piece.tokens for piece in plain] == [piece.tokens for piece in marked]
    assert [piece.mark for piece in marked] == [False, False, False, False, True]

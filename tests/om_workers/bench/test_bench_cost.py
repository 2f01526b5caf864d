"""What calls cost with and without a memory: small examples reckoned by hand, and the whole command on a short conversation."""

from __future__ import annotations

import json
from itertools import pairwise
from pathlib import Path

import msgspec
import pytest
from click.testing import CliRunner

from om_api.errors import InvalidInputError
from om_api.tokens import counter
from om_api.values import Message
from om_workers.bench.__main__ import bench
from om_workers.bench.cost import histories, sweep
from om_workers.bench.cost.bills import Account, rates_of
from om_workers.bench.cost.calls import Call, agent, calls_of, with_breaks
from om_workers.bench.cost.compare import Comparison, Plan
from om_workers.bench.cost.wire import Piece, Sent, of_anthropic, of_openai, size

LOCOMO = Path(__file__).parents[2] / "data" / "bench" / "locomo.json"
SMALL = ("--calls=24", "--set=message_threshold=4000", "--set=observation_threshold=2000", "--actor=claude-sonnet-4-6")
ADDED = [[Piece(f"p{n}", 1000)] for n in range(6)]
SYSTEM = histories.prompt(2000)


def cost(*words):
    return CliRunner().invoke(bench, ["cost", *map(str, words)])


@pytest.fixture(scope="module")
def found():
    return json.loads(cost(*SMALL, "--json").output)


def sizes(requests):
    return [size(pieces) for pieces in requests]


def test_a_whole_history_grows_and_a_window_slides_or_is_halved():
    assert sizes(histories.whole(SYSTEM, ADDED)) == [3000, 4000, 5000, 6000, 7000, 8000]
    assert sizes(histories.alone(SYSTEM, ADDED)) == [3000] * 6
    assert sizes(histories.sliding(SYSTEM, ADDED, 3000)) == [3000, 4000, 5000, 5000, 5000, 5000]
    assert sizes(histories.by_halves(SYSTEM, ADDED, 4000)) == [3000, 4000, 5000, 6000, 4000, 5000]


def test_only_a_history_that_is_read_again_has_a_breakpoint_at_its_end():
    ways = (
        histories.whole(SYSTEM, ADDED),
        histories.by_halves(SYSTEM, ADDED, 4000),
        histories.sliding(SYSTEM, ADDED, 3000),
    )

    assert [list(way)[-1][-1].mark for way in ways] == [True, True, False]


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


def test_a_model_of_unknown_price_is_refused_by_name():
    with pytest.raises(InvalidInputError, match="claude-nobody costs is not known"):
        rates_of("claude-nobody")


def test_a_call_brings_the_answer_before_it_and_what_is_new():
    roles = ("user", "assistant", "tool", "assistant", "assistant", "user", "assistant", "user")
    messages = [Message(id=f"m{n}", role=role, content="x", at=n * 1000) for n, role in enumerate(roles)]

    assert [[each.id for each in call.messages] for call in calls_of(messages, len)] == [
        ["m0"], ["m1", "m2"], ["m3", "m4", "m5"],
    ]  # fmt: skip
    assert [(call.at, call.output) for call in calls_of(messages, len)] == [(0, 5), (2, 5), (5, 5)]


def test_where_nobody_is_the_assistant_each_message_is_a_call():
    messages = [Message(id=f"m{n}", role="user", content="x", at=n) for n in range(3)]

    assert [(len(call.messages), call.output) for call in calls_of(messages, len)] == [(1, 0)] * 3


def test_breaks_move_all_later_calls():
    calls = [Call((), 0, at) for at in (0, 10, 20, 30)]

    assert with_breaks(calls, every=2, seconds=3600) == [0, 10, 3620, 3630]


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


def test_the_agent_of_our_own_making_is_the_same_every_time_and_of_the_size_it_says():
    (_, calls), (_, again) = agent(100), agent(100)
    added = histories.rendered(calls, counter())
    outputs = [call.output for call in calls]

    assert calls == again
    assert (sum(map(size, added)) - sum(outputs[:-1])) / 100 == pytest.approx(1600, rel=0.05)
    assert sum(outputs) / 100 == pytest.approx(150, rel=0.05)
    assert max(later.at - call.at for call, later in pairwise(calls)) < 300


def test_two_runs_write_the_same_bytes(found):
    assert json.loads(cost(*SMALL, "--json").output) == found


def test_every_way_is_billed_for_the_same_answers_and_held_against_the_cached_history(found):
    lines = found["lines"]
    cached = next(line for line in lines if line["strategy"] == "full history, cached")

    assert len({line["answering"]["output"] for line in lines}) == 1
    assert cached["factor"] == 1.0
    assert all(line["factor"] == pytest.approx(cached["dollars"] / line["dollars"]) for line in lines)


def test_a_series_ends_with_the_bill_and_never_falls(found):
    for line in found["lines"]:
        assert len(line["series"]) == 24
        assert line["series"] == sorted(line["series"])
        assert line["series"][-1] == pytest.approx(
            line["answering"]["dollars"] + line["remembering"]["dollars"], abs=1e-5
        )


def test_an_extractive_memory_costs_the_actors_calls_only_and_a_models_prompts_are_billed(found):
    bills = {line["observer"]: line["remembering"] for line in found["lines"] if line["strategy"] == "memory"}

    assert bills["extractive"]["dollars"] == 0
    assert bills["gemini-2.5-flash-lite"]["fresh"] > 1000
    assert (
        bills["gemini-2.5-flash-lite"]["dollars"]
        < bills["gemini-2.5-flash"]["dollars"]
        < bills["the actor's own model"]["dollars"]
    )


def test_most_of_what_a_memory_sends_is_served_from_the_cache(found):
    line = next(line for line in found["lines"] if line["observer"] == "extractive")

    assert line["answering"]["cached"] > 0.5 * sum(line["answering"][what] for what in ("fresh", "cached", "written"))


def test_a_sweep_tries_thresholds_and_one_other_setting_each(monkeypatch):
    for name, values in (("_MESSAGES", (5000,)), ("_OBSERVATIONS", (3000,)), ("_OTHERS", ("buffer_tokens=0.4",))):
        monkeypatch.setattr(sweep, name, values)
    found = json.loads(cost("--sweep", "--json", "--calls=6", "--actor=gpt-5.2", "--set=message_threshold=4000").output)

    assert [each["settings"] for each in found["tried"]] == [
        ["message_threshold=4000"],
        ["message_threshold=5000", "observation_threshold=3000"],
        ["message_threshold=4000", "buffer_tokens=0.4"],
    ]
    assert list(found["tried"][0]["factors"]["gpt-5.2"]) == ["extractive", "gemini-2.5-flash", "gemini-2.5-flash-lite"]


def test_a_row_of_the_sweep_states_what_differs_from_the_plans_last_settings():
    plan = Plan(actors=("gpt-5.2",), observers=(), settings={"as shipped": (), "thrifty": ("a=1", "b=2")})
    tried = [sweep.Tried(settings, 9, 3, {"gpt-5.2": {"extractive": 5.04}}) for settings in ((), ("a=1", "b=3"))]
    text = sweep.as_table(sweep.Sweep(plan, tried))

    assert "as in *thrifty*: `a=1`, `b=2`." in text
    assert text.endswith("| *as shipped* | 9 | 3 | 5.0 |\n| `b=3` | 9 | 3 | 5.0 |")


def test_a_recorded_conversation_is_measured_as_well():
    found = cost(LOCOMO, "--actor=gpt-5.2", "--set=message_threshold=1000")

    assert found.exit_code == 0
    assert "- *as given*: `message_threshold: 1000`" in found.output
    assert "| memory, as given: extractive |" in found.output


def test_the_price_of_an_actor_that_nobody_knows_is_told_before_anything_is_replayed():
    found = cost("--actor=llama-9", "--calls=2")

    assert found.exit_code == 2
    assert "how llama-9 caches prompts is not known here" in found.output


def test_breaks_cost_a_long_history_more_than_a_short_one():
    calls = [Call((), 100, n * 10.0) for n in range(120)]
    added = [[Piece(f"p{n}", 1000)] for n in range(120)]
    plan = Plan(actors=("gpt-5.2",), observers=(), settings={})
    lines = {line.strategy: line for line in Comparison("gpt-5.2", calls, plan, SYSTEM, added).lines({})}

    assert lines["window dropped by halves"].with_breaks > lines["window dropped by halves"].factor > 1


def test_a_plan_says_what_was_assumed(found):
    plan = msgspec.convert(found["plan"], Plan)

    assert (plan.ratio, plan.system, plan.window) == (10, 2000, 30_000)

"""Every way of sending the same calls, held against the cached full history."""

import pytest

from om_bench.cost.calls import AgentCall
from om_bench.cost.compare import Comparison, CostPlan
from om_bench.cost.histories import prompt
from om_bench.cost.wire import Piece


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


def test_breaks_cost_a_long_history_more_than_a_short_one():
    calls = [AgentCall((), 100, n * 10.0) for n in range(120)]
    added = [[Piece(f"p{n}", 1000)] for n in range(120)]
    plan = CostPlan(actors=("gpt-5.2",), observers=(), settings={})
    lines = {line.strategy: line for line in Comparison("gpt-5.2", calls, plan, prompt(2000), added).lines({})}

    assert lines["window dropped by halves"].with_breaks > lines["window dropped by halves"].factor > 1

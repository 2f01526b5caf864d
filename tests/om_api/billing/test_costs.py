"""From what was counted to figures: bills by day, budgets left, and savings that can be checked by hand."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from om_api.billing.costs import CACHED, UNCACHED, CostLine, Left, costs, left, lines, savings
from om_api.billing.prices import TokenPrices
from om_api.settings.memory_settings import BudgetSettings
from om_api.store.fleet.spending import Most, field

RATES = TokenPrices(fresh=1.0, cached=0.1)  # dollars per million tokens
SERVED = {"contexts": 10, "tokens": 400_000, "cached": 300_000, "raw": 2_000_000, "raw_cached": 1_800_000}


def bill(model="m", purpose="observe", **amounts):
    return {field(model, purpose, what): amount for what, amount in amounts.items()}


def test_a_bill_is_by_model_and_purpose():
    counted = {**bill("b|c", calls=2, input=50, micros=1_500_000), **bill("a", "reflect", calls=1, failed=1)}
    expected = [
        CostLine(day="d", model="a", purpose="reflect", calls=1, failed=1, cost=0.0),
        CostLine(day="d", model="b|c", purpose="observe", calls=2, input=50, cost=1.5),
    ]

    assert lines("d", {**counted, "all|calls": 3, "open|e1": 1, "served|raw": 9}) == expected


@pytest.mark.parametrize(("unpriced", "cost"), [(0, 0.000007), (1, 0.000007), (2, None)])
def test_a_cost_is_unknown_only_where_no_call_has_a_price(unpriced, cost):
    (line,) = lines("d", bill(calls=2, micros=7, unpriced=unpriced))

    assert (line.cost, line.unpriced) == (cost, unpriced)


def test_savings_against_the_uncached_history_hold_like_against_like():
    saving = savings(SERVED, RATES, memory=0.25)[0]

    assert (saving.baseline, saving.saved_tokens) == (UNCACHED, 1_600_000)
    assert (saving.baseline_dollars, saving.served_dollars) == (2.0, 0.4)
    assert saving.saved_dollars == pytest.approx(2.0 - 0.4 - 0.25)


def test_savings_against_the_cached_history_pay_the_cached_price_on_both_sides():
    saving = savings(SERVED, RATES, memory=0.05)[1]

    assert (saving.baseline, saving.baseline_cached, saving.served_cached) == (CACHED, 1_800_000, 300_000)
    assert saving.baseline_dollars == pytest.approx(0.2 + 0.18)
    assert saving.served_dollars == pytest.approx(0.1 + 0.03)
    assert saving.saved_dollars == pytest.approx(0.38 - 0.13 - 0.05)


def test_a_memory_that_costs_more_than_it_saves_says_so():
    assert savings(SERVED, RATES, memory=5.0)[1].saved_dollars < 0


def test_without_prices_savings_are_in_tokens_only():
    found = savings(SERVED, None, memory=0.25)

    assert [each.saved_tokens for each in found] == [1_600_000, 1_600_000]
    assert {each.saved_dollars for each in found} == {None}


def test_where_no_context_was_served_nothing_is_said_of_savings():
    assert savings({}, RATES, memory=1.0) == ()


@given(st.dictionaries(st.sampled_from(sorted(SERVED)), st.integers(0, 10**12)), st.floats(0, 100))
def test_what_is_saved_is_what_both_would_cost_and_the_memory_does(sums, memory):
    for each in savings(
        {"contexts": 1, **sums, **({"contexts": 1} if not sums.get("contexts") else {})}, RATES, memory
    ):
        assert each.saved_dollars == pytest.approx(each.baseline_dollars - each.served_dollars - memory)


def test_what_is_left_is_told_for_each_limit_that_is_stated():
    budget = BudgetSettings(calls_per_day=10, dollars_per_day=2.0, then="extractive")
    found = list(left("budget", budget, Most(10, 999, 1_500_000)))

    assert found == [
        Left(setting="budget.calls_per_day", limit=10, used=10, left=0, reached=True, then="extractive"),
        Left(setting="budget.dollars_per_day", limit=2.0, used=1.5, left=0.5, reached=False, then="extractive"),
    ]


def test_days_are_added_up():
    days = [{**bill(calls=1, micros=500_000), "open|e": 1}, bill(calls=2, micros=250_000, unpriced=1, estimated=1)]
    found = costs("harold", ["2026-11-20", "2026-11-21"], days, RATES, "m", ())

    assert (found.first, found.last, found.cost, found.calls) == ("2026-11-20", "2026-11-21", 0.75, 3)
    assert (found.unpriced, found.open, found.contexts, found.savings) == (1, 1, 0, ())
    assert found.estimated == 1
    assert [line.day for line in found.lines] == ["2026-11-20", "2026-11-21"]


@pytest.mark.parametrize(
    ("used", "passed_h", "until_h"),
    [(50, 6, 12), (50, 12, None), (10, 6, None), (0, 6, None), (100, 6, None), (99, 0, None)],
)
def test_a_budget_lasts_until_it_is_used_up_at_the_pace_of_the_day(used, passed_h, until_h):
    """Of 100 calls 50 were made in the first six hours: the rest lasts for six more."""
    midnight, hour = 20_000 * 86_400_000, 3_600_000
    (found,) = left("budget", BudgetSettings(calls_per_day=100), Most(used, 0, 0), midnight + passed_h * hour)

    assert found.lasts_until == (None if until_h is None else midnight + until_h * hour)

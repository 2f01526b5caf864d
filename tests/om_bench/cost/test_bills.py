"""What a call costs, reckoned by hand."""

import pytest

from om_bench.cost.bills import Account, rates_of
from om_bench.cost.wire import Piece, Sent


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

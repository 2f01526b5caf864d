"""What was used last is kept, within bounds; what is asked twice is made once, with the same results."""

from itertools import takewhile

import pytest
from hypothesis import given
from hypothesis import strategies as st

from om_api.domain.caching import LRU, Memoized, shared

ITEMS = st.lists(st.integers(0, 2), max_size=12)


@pytest.mark.parametrize(("most", "heaviest"), [(10, 0), (1_000, 100)])
def test_a_table_forgets_what_was_not_used_for_longest(most, heaviest):
    table = LRU(most, heaviest)
    for n in range(10 * most):
        table.put(n, str(n), 10)
        table.get(0)

    assert len(table) == 10
    assert table.weight == 100
    assert list(table) == [*range(10 * most - 9, 10 * most), 0]


def test_what_is_asked_twice_in_a_row_is_made_once():
    asked = []
    doubled = Memoized(lambda number: asked.append(number) or 2 * number)

    assert [doubled(1), doubled(1), doubled(2), doubled(1)] == [2, 2, 4, 2]
    assert asked == [1, 2, 1]


@given(before=ITEMS, now=ITEMS)
def test_two_lists_share_what_both_begin_with(before, now):
    same = list(takewhile(lambda pair: pair[0] == pair[1], zip(before, now, strict=False)))

    assert shared(before, now) == len(same)

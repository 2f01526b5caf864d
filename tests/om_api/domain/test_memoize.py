"""Doing again only what is not as it was: the same results, with less work."""

from __future__ import annotations

from itertools import takewhile

from hypothesis import given
from hypothesis import strategies as st

from om_api.domain.memoize import Memoized, shared

ITEMS = st.lists(st.integers(0, 2), max_size=12)


def test_what_is_asked_twice_in_a_row_is_made_once():
    asked = []
    doubled = Memoized(lambda number: asked.append(number) or 2 * number)

    assert [doubled(1), doubled(1), doubled(2), doubled(1)] == [2, 2, 4, 2]
    assert asked == [1, 2, 1]


@given(before=ITEMS, now=ITEMS)
def test_two_lists_share_what_both_begin_with(before, now):
    same = list(takewhile(lambda pair: pair[0] == pair[1], zip(before, now, strict=False)))

    assert shared(before, now) == len(same)

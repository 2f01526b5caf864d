"""Distances from the day it was said."""

from datetime import date

import pytest

from om_api.language.relative_dates import meanings

DAY = date(2026, 1, 31)


@pytest.mark.parametrize(
    ("text", "meaning"),
    [
        ("in one day", "Feb 1, 2026"),
        ("in twelve weeks", "Apr 25, 2026"),
        ("in a month", "Feb 2026"),
        ("in 11 months", "Dec 2026"),
        ("a couple of fortnights ago", "Jan 3, 2026"),
        ("thirteen months ago", None),
        ("about a month ago", None),
        ("5-6 days ago", None),
    ],
)
def test_so_many_of_a_unit_are_counted_from_the_day(text, meaning):
    assert list(meanings(text, DAY)) == [meaning] * bool(meaning)


@pytest.mark.parametrize("day", [5, 6])
def test_on_a_saturday_and_a_sunday_this_weekend_is_the_one_at_hand(day):
    said = date(2025, 12, 1 + day)

    assert list(meanings("this weekend we hiked", said)) == ["Dec 6-7, 2025"]
    assert list(meanings("over the weekend we hiked", said)) == []

"""Weekdays, from every day of a week."""

from datetime import date, timedelta

import pytest

from om_api.language.relative_dates import meanings

MONDAY = date(2025, 12, 1)
NAMES = ("Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday", "Sunday")


@pytest.mark.parametrize("today", range(7))
@pytest.mark.parametrize("wanted", range(7))
def test_a_weekday_without_more_is_the_next_one_and_in_the_past_the_last_one(today, wanted):
    day, ahead = MONDAY + timedelta(today), (wanted - today) % 7
    shown = [f"{there:%b} {there.day}, 2025" for there in (day + timedelta(ahead), day + timedelta(ahead - 7))]

    assert list(meanings(f"come on {NAMES[wanted]}", day)) == shown[:1] * bool(ahead)
    assert list(meanings(f"he came on {NAMES[wanted]}", day)) == shown[1:] * bool(ahead)


@pytest.mark.parametrize(("today", "sure"), [(0, True), (3, True), (4, True), (5, False), (6, False)])
def test_next_monday_is_unsure_at_the_weekend_before(today, sure):
    assert list(meanings("next Monday", MONDAY + timedelta(today))) == ["Dec 8, 2025"] * sure

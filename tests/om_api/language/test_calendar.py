from __future__ import annotations

from datetime import date

import pytest

from om_api.language.calendar import DAY_NAMES, LocalTime, month_number, show_day, zone_of

DAY = 86_400_000


@pytest.mark.parametrize(("name", "number"), [("January", 1), ("may", 5), ("SEPT", 9), ("sep", 9), ("Dec", 12)])
def test_a_month_is_known_by_its_first_three_letters(name, number):
    assert month_number(name) == number


def test_another_word_is_no_month():
    with pytest.raises(ValueError, match="not in tuple"):
        month_number("monday")


def test_a_day_is_shown_as_our_lines_write_it():
    assert show_day(date(2025, 3, 4)) == "Mar 4, 2025"


def test_the_names_of_days_are_those_of_months_and_weekdays_long_and_short():
    assert {"may", "september", "sept", "sep", "sunday", "sun"} < DAY_NAMES
    assert len(DAY_NAMES) == 12 + 11 + 1 + 7 + 7


@pytest.mark.parametrize("name", ["No/Where", "", "../etc", "Europe"])
def test_an_unknown_zone_is_utc(name):
    assert zone_of(name).key == "UTC"


def test_a_day_is_that_of_the_zone():
    assert [LocalTime(zone).day(10 * DAY + DAY // 2) for zone in ("UTC", "Pacific/Auckland")] == [
        "Jan 11, 1970",
        "Jan 12, 1970",
    ]


def test_a_time_out_of_range_is_clamped():
    clock = LocalTime("UTC")

    assert [clock.day(ms) for ms in (-DAY, 0, DAY, 2 * DAY)] == ["Jan 2, 1970"] * 3 + ["Jan 3, 1970"]
    assert [clock.day(ms) for ms in (10**18, 253_402_214_400_000)] == ["Dec 31, 9999"] * 2
    assert clock.day(253_402_214_400_000 - DAY) == "Dec 30, 9999"

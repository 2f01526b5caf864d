from datetime import date

import pytest

from om_api.language.calendar import (
    DAY_NAMES,
    CoveredDays,
    Day,
    LocalTime,
    days,
    month_number,
    show_day,
    spans,
    zone_of,
)

DAY = 86_400_000


def test_months_are_known_by_their_first_three_letters():
    assert [month_number(name) for name in ("January", "may", "SEPT", "sep", "Dec")] == [1, 5, 9, 9, 12]
    with pytest.raises(ValueError, match="not in tuple"):
        month_number("monday")
    assert {"may", "september", "sept", "sep", "sunday", "sun"} < DAY_NAMES
    assert show_day(date(2025, 3, 4)) == "Mar 4, 2025"


def test_local_time_is_that_of_the_zone_and_clamped_to_the_calendar():
    assert {zone_of(name).key for name in ("No/Where", "", "../etc", "Europe")} == {"UTC"}
    noon = 10 * DAY + DAY // 2
    assert [LocalTime(zone).day(noon) for zone in ("UTC", "Pacific/Auckland")] == ["Jan 11, 1970", "Jan 12, 1970"]
    clock = LocalTime("UTC")
    assert [clock.day(ms) for ms in (-DAY, 0, DAY, 2 * DAY)] == ["Jan 2, 1970"] * 3 + ["Jan 3, 1970"]
    assert [clock.day(ms) for ms in (10**18, 253_402_214_400_000)] == ["Dec 31, 9999"] * 2
    assert clock.day(253_402_214_400_000 - DAY) == "Dec 30, 9999"


def test_spans_are_read_however_they_are_written():
    texts = ["Nov 2 - Nov 28, 2025", "Dec 3-5, 2025", "2025-11-02 to 2025-11-28", "Dec 28, 2025 – Jan 3, 2026"]
    first, second, third, over_new_year = (spans(text)[0] for text in texts)

    assert (first.first, first.last, second.last) == (Day(2025, 11, 2), Day(2025, 11, 28), Day(2025, 12, 5))
    assert third == first
    assert [CoveredDays([over_new_year]).hold(Day(0, month, 1)) for month in (1, 2)] == [True, False]
    assert len(CoveredDays([second, first, second])._dated) == 2


def test_spans_hold_their_two_ends_and_nothing_beyond_them():
    """Catches notes that count as dated, all of them, since somebody put a meeting forward."""
    two_years = "Dec 27, 2025, Dec 30, 2025, Jan 1, 2026, Jan 4, 2026, Jan 1, 2025, Dec 30, 2026"
    most = "Jan 5, 2025, Mar 1, 2025, Jul 1, 2025, Dec 30, 2024, Dec 10, 2025"
    rows = (
        ("Nov 20 - Dec 9, 2025", "Nov 19, Nov 20, Dec 9, Dec 10", "Nov 20, Dec 9"),
        ("Dec 28 - Jan 3, 2026", two_years, "Dec 30, 2025, Jan 1, 2026"),
        ("Dec 28, 2025 - Jan 3", two_years, "Dec 30, 2025, Jan 1, 2026"),
        ("moved from Dec 20 to Dec 4, 2025", most, ""),
        ("Nov 28 - Nov 2025", most, ""),
        ("from Jul 9 to Jan 3, 2025", most, ""),
        ("Dec 28 - Jan 3", "Dec 27, 2024, Dec 28, 2024, Jan 3, 2030, Jan 4, 2030", "Dec 28, 2024, Jan 3, 2030"),
        ("Dec 4 - Dec 4", "Dec 3, Dec 4, Dec 5", "Dec 4"),
    )
    for text, asked, expected in rows:
        covered = CoveredDays([*spans(text), *spans("May 2, 1999 - May 5, 1999"), *spans("May 4, 1999 - May 9, 1999")])
        assert [day for day in days(f"May 6, 1999, {asked}, May 10, 1999") if covered.hold(day)] == [
            Day(1999, 5, 6),
            *days(expected),
        ], text
    assert days("13/14 of them may 5 times, 2025-13-99, May I?") == []

from datetime import date

import pytest

from om_api.language.calendar import DAY_NAMES, Day, LocalTime, days, month_number, show_day, spans, zone_of

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


def test_spans_are_read_however_they_are_written():
    texts = ["Nov 2 - Nov 28, 2025", "Dec 3-5, 2025", "2025-11-02 to 2025-11-28", "Dec 28, 2025 – Jan 3, 2026"]
    first, second, third, over_new_year = (spans(text)[0] for text in texts)

    assert (first.first, first.last, second.last) == (Day(2025, 11, 2), Day(2025, 11, 28), Day(2025, 12, 5))
    assert third == first
    assert over_new_year.holds(Day(0, 1, 1))
    assert not over_new_year.holds(Day(0, 2, 1))


def test_a_span_holds_its_two_ends_and_nothing_beyond_them():
    (span,) = spans("Nov 20 - Dec 9, 2025")

    assert list(filter(span.holds, days("Nov 19, Nov 20, Dec 9, Dec 10"))) == days("Nov 20, Dec 9")


@pytest.mark.parametrize("text", ["Dec 28 - Jan 3, 2026", "Dec 28, 2025 - Jan 3"])
def test_a_span_over_new_year_is_of_two_years_whichever_end_says_one(text):
    (span,) = spans(text)

    asked = days("Dec 27, 2025, Dec 30, 2025, Jan 1, 2026, Jan 4, 2026, Jan 1, 2025, Dec 30, 2026")
    assert list(filter(span.holds, asked)) == days("Dec 30, 2025, Jan 1, 2026")


@pytest.mark.parametrize("text", ["moved from Dec 20 to Dec 4, 2025", "Nov 28 - Nov 2025", "from Jul 9 to Jan 3, 2025"])
def test_a_later_date_before_an_earlier_one_is_no_span_of_most_of_a_year(text):
    """Catches notes that count as dated, all of them, since somebody put a meeting forward."""
    asked = days("Jan 5, 2025, Mar 1, 2025, Jul 1, 2025, Dec 30, 2024, Dec 10, 2025")

    assert not [day for span in spans(text) for day in asked if span.holds(day)]


def test_a_span_over_new_year_without_a_year_holds_its_two_ends_of_any_year():
    (span,) = spans("Dec 28 - Jan 3")

    asked = days("Dec 27, 2024, Dec 28, 2024, Jan 3, 2030, Jan 4, 2030")
    assert list(filter(span.holds, asked)) == days("Dec 28, 2024, Jan 3, 2030")


def test_a_span_of_one_day_holds_no_other():
    (span,) = spans("Dec 4 - Dec 4")

    assert list(filter(span.holds, days("Dec 3, Dec 4, Dec 5"))) == days("Dec 4")


def test_what_is_no_date_is_none():
    assert days("13/14 of them may 5 times, 2025-13-99, May I?") == []

from __future__ import annotations

import pytest

from om_api.language.dates import Day, days, spans


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

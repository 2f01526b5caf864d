"""Which texts are a date, and how its age and gaps are told."""

from datetime import date

import pytest

from om_api.language.spans import Span, gap, parse_span, phrase

TODAY = date(2025, 6, 15)


def days(first, last=None):
    return Span(date.fromisoformat(first), date.fromisoformat(last or first))


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("June 10, 2025", days("2025-06-10")),
        ("june 10 2025", days("2025-06-10")),
        ("Jun 2nd, 2025", days("2025-06-02")),
        ("10 June 2025", days("2025-06-10")),
        ("2025-06-10", days("2025-06-10")),
        ("June 10, 2025 at 14:00", days("2025-06-10")),
        ("Jun 10, 2025, 2:30 PM", days("2025-06-10")),
        ("June 10, 2025 at 2pm", days("2025-06-10")),
        ("2025-06-10T14:00:00Z", days("2025-06-10")),
        ("June 3-10, 2025", days("2025-06-03", "2025-06-10")),
        ("June 3\u201310, 2025", days("2025-06-03", "2025-06-10")),
        ("Apr 1-May 20, 2025", days("2025-04-01", "2025-05-20")),
        ("Apr 1 - May 20, 2025", days("2025-04-01", "2025-05-20")),
        ("Apr 1\u2014May 20, 2025", days("2025-04-01", "2025-05-20")),
        ("Dec 30, 2024 - Jan 2, 2025", days("2024-12-30", "2025-01-02")),
        ("Dec 30 - Jan 2, 2025", days("2024-12-30", "2025-01-02")),
        ("August 2024", days("2024-08-01", "2024-08-31")),
        ("February 2024", days("2024-02-01", "2024-02-29")),
        ("early June 2025", days("2025-06-07")),
        ("mid-June 2025", days("2025-06-15")),
        ("late June 2025", days("2025-06-23")),
        ("early 2025", days("2025-02-15")),
        ("mid 2025", days("2025-07-01")),
        ("late 2025", days("2025-11-15")),
        ("2024", days("2024-01-01", "2024-12-31")),
        ("by late 2027", days("2027-11-15")),
        ("approx. June 10, 2025", days("2025-06-10")),
        ("about June 2025", days("2025-06-01", "2025-06-30")),
        ("circa 2024", days("2024-01-01", "2024-12-31")),
        ("June 10 or June 12, 2025", days("2025-06-10", "2025-06-12")),
    ],
)
def test_a_date_is_read_as_the_days_it_means(text, expected):
    assert parse_span(text) == expected


@pytest.mark.parametrize(
    "text", ["June 10", "10:30", "June 31, 2025", "Feb 29, 2025", "2025-13-01", "soon", "in 2 weeks"]
)
def test_what_names_no_year_or_no_day_there_is_is_no_date(text):
    assert parse_span(text) is None


def test_a_date_may_take_sixty_characters():
    june = "June 10,{}2025".format

    assert parse_span(june(" " * 48)) == days("2025-06-10")
    assert parse_span(june(" " * 49)) is None


@pytest.mark.parametrize(
    ("ago", "expected"),
    [
        (0, "today"),
        (1, "yesterday"),
        (2, "2 days ago"),
        (6, "6 days ago"),
        (7, "1 week ago"),
        (13, "1 week ago"),
        (14, "2 weeks ago"),
        (29, "4 weeks ago"),
        (30, "1 month ago"),
        (59, "1 month ago"),
        (60, "2 months ago"),
        (364, "12 months ago"),
        (365, "1 year ago"),
        (730, "2 years ago"),
        (-1, "tomorrow"),
        (-2, "in 2 days"),
        (-7, "in 1 week"),
        (-30, "in 1 month"),
        (-365, "in 1 year"),
    ],
)
def test_an_age_is_told_by_its_largest_unit_rounded_down(ago, expected):
    day = date.fromordinal(TODAY.toordinal() - ago)

    assert phrase(Span(day, day), TODAY) == expected


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("June 10, 2025", "5 days ago"),
        ("June 1, 2025", "2 weeks ago"),
        ("August 2024", "10 months ago to 9 months ago"),
        ("by late 2027", "in 2 years"),
        ("June 10 to Aug 20, 2025", "5 days ago to 2 months from now"),
        ("Aug 20, 2025 to Oct 20, 2025", "in 2 months to 4 months"),
    ],
)
def test_a_span_is_told_from_its_first_day_to_its_last(text, expected):
    assert phrase(parse_span(text), TODAY) == expected


@pytest.mark.parametrize(
    ("later", "expected"),
    [
        (-30, ""),
        (0, ""),
        (1, ""),
        (2, "2 days later"),
        (6, "6 days later"),
        (7, "1 week later"),
        (13, "1 week later"),
        (14, "2 weeks later"),
        (29, "4 weeks later"),
        (30, "1 month later"),
        (59, "1 month later"),
        (60, "2 months later"),
        (430, "14 months later"),
    ],
)
def test_a_gap_of_two_days_or_more_is_told_by_its_largest_unit(later, expected):
    day = date.fromordinal(TODAY.toordinal() + later)

    assert gap(Span(TODAY, TODAY), Span(day, day)) == expected


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("June 15, 2025", "today"),
        ("2025-06-14", "yesterday"),
        ("June 10, 2025", "5 days ago"),
        ("Jun 2nd, 2025", "1 week ago"),
        ("1 June 2025", "2 weeks ago"),
        ("May 10, 2025", "1 month ago"),
        ("Apr. 1, 2025", "2 months ago"),
        ("Sept 20, 2024", "8 months ago"),
        ("May 30, 2023", "2 years ago"),
        ("June 16, 2025", "tomorrow"),
        ("June 20, 2025", "in 5 days"),
        ("August 2024", "10 months ago to 9 months ago"),
        ("by late 2027", "in 2 years"),
        ("early May 2025", "1 month ago"),
        ("June 3-10, 2025", "1 week ago to 5 days ago"),
        ("Dec 30, 2024 - Jan 2, 2025", "5 months ago"),
        ("June 10 to Aug 20, 2025", "5 days ago to 2 months from now"),
        ("Aug 20, 2025 to Oct 20, 2025", "in 2 months to 4 months"),
    ],
)
def test_a_date_is_told_as_people_would(text, expected):
    assert phrase(parse_span(text), date(2025, 6, 15)) == expected


@pytest.mark.parametrize(
    "text", ["June 10", "Feb 30, 2025", "soon", "", "Mayhem 3, 2025", "9 to 5", "x" * 100_000, "<x>"]
)
def test_what_is_no_date_is_left_alone(text):
    assert parse_span(text) is None

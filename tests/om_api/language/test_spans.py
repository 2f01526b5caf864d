"""Which texts are a date, and how its age and gaps are told."""

from datetime import date

from om_api.language.spans import Span, gap, parse_span, phrase

TODAY = date(2025, 6, 15)
READ = """June 10, 2025 = 2025-06-10; jun 2nd 2025 = 2025-06-02; 10 June 2025 = 2025-06-10; 2025-06-10T14:00:00Z = 2025-06-10
June 10, 2025 at 14:00 = 2025-06-10; Jun 10, 2025, 2:30 PM = 2025-06-10; June 3\u201310, 2025 = 2025-06-03 2025-06-10
Apr 1 - May 20, 2025 = 2025-04-01 2025-05-20; Apr 1\u2014May 20, 2025 = 2025-04-01 2025-05-20
Dec 30, 2024 - Jan 2, 2025 = 2024-12-30 2025-01-02; Dec 30 - Jan 2, 2025 = 2024-12-30 2025-01-02
Sept. 2024 = 2024-09-01 2024-09-30; February 2024 = 2024-02-01 2024-02-29; early June 2025 = 2025-06-07
mid-June 2025 = 2025-06-15; late June 2025 = 2025-06-23; early 2025 = 2025-02-15; mid 2025 = 2025-07-01
by late 2027 = 2027-11-15; approx. June 10, 2025 = 2025-06-10; about June 2025 = 2025-06-01 2025-06-30
circa 2024 = 2024-01-01 2024-12-31; June 10 or June 12, 2025 = 2025-06-10 2025-06-12
"""


def days(first, last=None):
    return Span(date.fromisoformat(first), date.fromisoformat(last or first))


def later(days):
    there = date.fromordinal(TODAY.toordinal() + days)
    return Span(there, there)


def test_parse_span_reads_a_date_as_the_days_it_means():
    for row in READ.strip().replace("\n", "; ").split("; "):
        text, _, expected = row.partition(" = ")
        assert parse_span(text) == days(*expected.split()), text


def test_parse_span_refuses_what_names_no_year_or_no_day_of_the_calendar():
    none = ("June 10", "10:30", "June 31, 2025", "Feb 29, 2025", "2025-13-01", "soon", "in 2 weeks", "", "x" * 100_000)
    for text in (*none, "Mayhem 3, 2025", "9 to 5", f"June 10,{' ' * 49}2025"):
        assert parse_span(text) is None, text
    assert parse_span(f"June 10,{' ' * 48}2025") == days("2025-06-10")


def test_phrase_tells_an_age_by_its_largest_unit_rounded_down():
    ages = {
        0: "today",
        -1: "yesterday",
        -6: "6 days ago",
        -7: "1 week ago",
        -13: "1 week ago",
        -29: "4 weeks ago",
        -30: "1 month ago",
        -59: "1 month ago",
        -364: "12 months ago",
        -365: "1 year ago",
        1: "tomorrow",
        2: "in 2 days",
        365: "in 1 year",
    }
    assert {day: phrase(later(day), TODAY) for day in ages} == ages
    spans = {
        "August 2024": "10 months ago to 9 months ago",
        "June 3-10, 2025": "1 week ago to 5 days ago",
        "Dec 30, 2024 - Jan 2, 2025": "5 months ago",
        "June 10 to Aug 20, 2025": "5 days ago to 2 months from now",
        "Aug 20, 2025 to Oct 20, 2025": "in 2 months to 4 months",
    }
    assert {text: phrase(parse_span(text), TODAY) for text in spans} == spans


def test_gap_tells_two_days_or_more_by_its_largest_unit():
    gaps = {
        1: "",
        2: "2 days later",
        7: "1 week later",
        13: "1 week later",
        29: "4 weeks later",
        30: "1 month later",
        59: "1 month later",
        430: "14 months later",
    }
    assert {day: gap(Span(TODAY, TODAY), later(day)) for day in gaps} == gaps

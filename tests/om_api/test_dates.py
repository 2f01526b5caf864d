"""Which dates of a memory are understood, and how their ages and the gaps between them are told."""

from __future__ import annotations

from datetime import date

import pytest
from hypothesis import given
from hypothesis import strategies as st

from om_api.context.ages import ages
from om_api.context.dates import Span, gap, parse_span, phrase

TODAY = date(2025, 6, 15)


def days(first, last=None):
    return Span(date.fromisoformat(first), date.fromisoformat(last or first))


# -- what is a date ----------------------------------------------------------------------------------------------------


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


# -- ages and gaps -----------------------------------------------------------------------------------------------------


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


# -- the map -----------------------------------------------------------------------------------------------------------


def told(*lines):
    return ages(["\n".join(lines)], TODAY)


def test_the_map_tells_ages_and_the_gaps_between_headers():
    texts = ["Date: Apr 1-May 20, 2025\n* a", "Date: Jun 1, 2025\n* b", "Date: Jun 2, 2025\n* c"]

    (line,) = ages(texts, TODAY)

    assert line == (
        "Dates above, seen from today: Apr 1-May 20, 2025 = 2 months ago to 3 weeks ago; "
        "[1 week later] Jun 1, 2025 = 2 weeks ago; Jun 2, 2025 = 1 week ago"
    )


def test_headers_are_told_in_the_order_of_time_whichever_thread_was_observed_first():
    (line,) = ages(["Date: Jun 10, 2025\n* a", "Date: Jun 1, 2025\n* b"], TODAY)

    assert line.endswith("Jun 1, 2025 = 2 weeks ago; [1 week later] Jun 10, 2025 = 5 days ago")


def test_only_a_line_that_begins_as_a_header_is_one_be_it_the_last():
    assert told("* Date: Jun 9, 2025", "Date: Jun 10, 2025") == [
        "Dates above, seen from today: Jun 10, 2025 = 5 days ago"
    ]


def test_the_dates_that_notes_refer_to_are_told_once_each():
    lines = (
        "* lived in Ghent (meaning August 2024)",
        "* moved (estimated August 2024)",
        "* ready (meaning by late 2027)",
    )

    assert told(*lines) == [
        "Dates that notes above refer to: August 2024 = 10 months ago to 9 months ago; by late 2027 = in 2 years"
    ]


def test_a_note_may_take_eighty_characters():
    """Catches a model that lines its notes up: the date would be cut off, and no age told."""
    assert told(f"* left (meaning{' ' * 60}May 2024)") == ["Dates that notes above refer to: May 2024 = 1 year ago"]
    assert told(f"* left (meaning{' ' * 80}May 2024)") == []


def test_a_note_of_a_day_that_is_a_header_is_not_told_twice():
    assert told("Date: Jun 10, 2025", "* paid (meaning Jun 10, 2025)") == [
        "Dates above, seen from today: Jun 10, 2025 = 5 days ago"
    ]


@pytest.mark.parametrize(
    "words",
    [
        "will attend",
        "plans to attend",
        "is planning to attend",
        "is looking forward to attending",
        "is going to attend",
        "intends to attend",
        "wants to attend",
        "needs to attend",
        "is about to attend",
    ],
)
def test_a_plan_whose_date_is_over_is_likely_done(words):
    head, plan = told(f"* 🔴 (09:00) User {words} the fair (estimated May 30, 2023)")

    assert head == "Plans above whose date has passed:"
    assert plan == f'- "User {words} the fair" (estimated May 30, 2023 = 2 years ago, likely already happened)'


@pytest.mark.parametrize(("length", "shown"), [(80, "x" * 70), (81, f"{'x' * 69}…")])
def test_a_past_plan_is_shown_in_eighty_characters(length, shown):
    _, plan = told(f"* User will {'x' * (length - 10)} (estimated May 30, 2023)")

    assert plan.startswith(f'- "User will {shown}" (estimated')


@pytest.mark.parametrize("when", ["June 15, 2025", "June 10 to June 20, 2025", "June 2025", "2025"])
def test_a_plan_whose_last_day_is_not_over_is_still_one(when):
    assert "Plans" not in "".join(told(f"* User will attend the fair (estimated {when})"))


def test_the_same_date_is_judged_line_by_line():
    told_ = told("* User plans to paint (meaning May 2, 2025)", "* User painted the shed (meaning May 2, 2025)")

    assert told_ == [
        "Dates that notes above refer to: May 2, 2025 = 1 month ago",
        "Plans above whose date has passed:",
        '- "User plans to paint" (meaning May 2, 2025 = 1 month ago, likely already happened)',
    ]


def test_what_cannot_be_read_and_what_names_no_year_is_left_as_it_stands():
    assert told("Date: someday", "* x (meaning next spring)", "* y on June 10", "* z (meaning June 10)") == []


@given(st.text(alphabet="Date: Jun 10, 2025\n(meaning)<>/", max_size=200))
def test_no_text_makes_the_map_say_anything_but_dates_and_plans(text):
    starts = ("Dates above, seen from today: ", "Dates that notes above refer to: ", "Plans above whose", '- "')

    assert all(line.startswith(starts) for line in ages([text], TODAY))

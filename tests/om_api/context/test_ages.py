"""How the ages of dates, the gaps between them and plans that are past are told."""

from datetime import date

import pytest
from hypothesis import given
from hypothesis import strategies as st
from snapshots import context, observed, said, snapshot, volatile

from om_api.context.ages import ages

TODAY = date(2025, 6, 15)


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


def test_ages_of_headers_are_told_in_the_volatile_block_only():
    made = context(snapshot([said("x")], [observed(1), observed(2, "Date: Dec 29, 2025\n* y")]))

    assert "Dec 4, 2025 = 3 weeks ago; [3 weeks later] Dec 29, 2025 = yesterday" in volatile(made)
    assert "ago" not in made.as_openai()[0]["content"].removeprefix(made.blocks[0].text)


def test_a_past_plan_is_likely_done_and_a_future_one_is_not():
    lines = "* 🔴 (09:00) User will attend the fair (estimated Dec 9, 2025)\n* User will fly home (meaning Jan 3, 2026)"

    told = ages([lines], date(2025, 12, 30))

    assert told[0] == "Dates that notes above refer to: Jan 3, 2026 = in 4 days"
    assert told[2:] == ['- "User will attend the fair" (estimated Dec 9, 2025 = 3 weeks ago, likely already happened)']


def test_only_the_twelve_newest_dates_are_aged():
    texts = [f"Date: {month} {day}, 2025\n* x" for month in ("Feb", "Jan") for day in range(1, 29)]

    (line,) = ages(texts, date(2025, 12, 30))

    assert line.count(" = ") == 12
    assert "Feb 17, 2025" in line
    assert "Feb 16, 2025" not in line

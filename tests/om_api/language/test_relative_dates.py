"""What relative dates mean: the table beside this test says it, row by row."""

from datetime import UTC, date, datetime
from pathlib import Path

import pytest
from extracts import WEDNESDAY

from om_api.language.calendar import LocalTime
from om_api.language.relative_dates import meanings

TABLE = Path(__file__).with_name("relative_dates.tsv").read_text("utf-8").splitlines()
ROWS = [row.split("\t") for row in TABLE if not row.startswith("#")]


def day_of(said):
    """The local day of `2025-11-20`, or of `2025-11-20T23:30Z Asia/Tokyo`."""
    when, _, zone = said.partition(" ")
    at = datetime.fromisoformat(when)
    at = at if at.tzinfo else at.replace(hour=12, tzinfo=UTC)
    return LocalTime(zone or "UTC").at(int(at.timestamp() * 1000)).date()


@pytest.mark.parametrize(("said", "text", "meaning"), ROWS)
def test_a_relative_date_means_what_its_reader_understands_or_nothing(said, text, meaning):
    assert meaning == ("; ".join(meanings(text, day_of(said))) or "-")


def test_the_table_is_long_and_says_nothing_twice():
    assert len({(said, text) for said, text, _ in ROWS}) == len(ROWS) >= 200


@pytest.mark.parametrize(
    ("text", "meaning"),
    [
        ("due by Friday", "Dec 5, 2025"),
        ("this weekend", "Dec 6-7, 2025"),
        ("a couple of weeks ago", "Nov 19, 2025"),
        ("valid until October 31", "Oct 31, 2026"),
        ("the 14th is fine", "Dec 14, 2025"),
        ("until the 2nd", "Jan 2, 2026"),
    ],
)
def test_a_text_says_its_meaning_alone(text, meaning):
    assert list(meanings(text, WEDNESDAY)) == [meaning]


def test_each_of_several_has_its_meaning_in_their_order():
    text = "yesterday, last Friday and last month; yesterday"

    assert list(meanings(text, WEDNESDAY)) == ["Dec 2, 2025", "Nov 28, 2025", "Nov 2025", "Dec 2, 2025"]


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("it ends tomorrow", ["Dec 4, 2025"]),
        ("on January 9", ["Jan 9, 2026"]),
        ("next month", ["Jan 2026"]),
        ("I may go", []),
    ],
)
def test_a_meaning_has_its_year_whether_it_is_the_year_of_the_day_or_not(text, found):
    assert list(meanings(text, WEDNESDAY)) == found


@pytest.mark.parametrize(
    "text", ["two hundred years ago", "999 years ago", "999 months ago", "the 0th is fine", "0 May", ""]
)
def test_what_no_calendar_holds_is_left_alone(text):
    assert list(meanings(text, date(1, 1, 1))) == []

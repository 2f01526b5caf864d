"""Days that a question names."""

from datetime import UTC, datetime
from zoneinfo import ZoneInfo

import pytest

from om_api.recall.days import moment_of, period_of, periods

NOW = round(datetime(2026, 3, 10, 12, tzinfo=UTC).timestamp() * 1000)  # a Tuesday


def days_of(found, zone="UTC"):
    return [
        tuple(f"{datetime.fromtimestamp(ms / 1000, ZoneInfo(zone)):%Y-%m-%d %H}" for ms in period) for period in found
    ]


@pytest.mark.parametrize(
    ("text", "first", "until"),
    [
        ("what did I say in May", "2025-05-01", "2025-06-01"),
        ("what will we do last week", "2026-03-02", "2026-03-09"),
        ("on March 3", "2026-03-03", "2026-03-04"),
        ("on December 24", "2025-12-24", "2025-12-25"),
        ("May 2025", "2025-05-01", "2025-06-01"),
        ("the meeting of 2025-03-14", "2025-03-14", "2025-03-15"),
        ("yesterday", "2026-03-09", "2026-03-10"),
        ("today", "2026-03-10", "2026-03-11"),
        ("3 days ago", "2026-03-07", "2026-03-08"),
        ("trips in 2024", "2024-01-01", "2025-01-01"),
    ],
)
def test_dates_in_words_look_back(text, first, until):
    assert (f"{first} 00", f"{until} 00") in days_of(periods(text, NOW, "UTC"))


def test_days_are_those_of_the_zone():
    assert days_of(periods("in May 2025", NOW, "Asia/Tokyo"), "Asia/Tokyo") == [("2025-05-01 00", "2025-06-01 00")]


@pytest.mark.parametrize("text", ["", "nothing here", "February 30", "may I ask", "0000-00-00", "in 5 weeks"])
def test_what_names_no_day_behind_us_names_none(text):
    assert periods(text, NOW, "UTC") == ()


@pytest.mark.parametrize(
    ("text", "first"),
    [("2025-05-01", "2025-05-01"), ("2025-05", "2025-05-01"), ("May 2025", "2025-05-01"), ("2025", "2025-01-01")],
)
def test_a_date_alone_is_a_period(text, first):
    period = period_of(text, "UTC")

    assert period is not None
    assert f"{first} 00" == days_of([period])[0][0]


@pytest.mark.parametrize("text", ["", "soon", "2025-13", "2025-02-30", "99999"])
def test_what_is_no_date_is_no_period(text):
    assert period_of(text, "UTC") is None


@pytest.mark.parametrize(
    ("text", "zone", "first"),
    [
        ("9999-12-31", "UTC", "9999-12-31T00:00:00+00:00"),
        ("9999-12-31", "Asia/Tokyo", "9999-12-30T15:00:00+00:00"),
        ("9999-12-31", "America/New_York", "9999-12-31T05:00:00+00:00"),
        (" 1850-07-04 ", "UTC", "1850-07-04T00:00:00+00:00"),
        ("0001-01-01", "Asia/Tokyo", "0001-01-01T00:00:00+00:00"),
        ("20250501", "UTC", "2025-05-01T00:00:00+00:00"),
        ("2025-05-01 09:30:00+02:00", "Asia/Tokyo", "2025-05-01T07:30:00+00:00"),
        ("9999-12-31T23:59:59Z", "Asia/Tokyo", "9999-12-31T23:59:59+00:00"),
    ],
)
def test_any_date_of_iso_8601_has_its_first_moment(text, zone, first):
    assert moment_of(text, zone) == datetime.fromisoformat(first).timestamp() * 1000


@pytest.mark.parametrize("text", ["", "soon", "2025-13-01", "2025-02-30", "1746057600", "99999", "1e5", "-5"])
def test_what_is_no_date_has_no_moment(text):
    assert moment_of(text, "Asia/Tokyo") is None

"""What relative dates mean: the table beside this test says it, row by row."""

from datetime import UTC, date, datetime, timedelta
from pathlib import Path

from extracts import WEDNESDAY

from om_api.language.calendar import LocalTime
from om_api.language.relative_dates import meanings
from om_api.language.tense import _signs

TABLE = Path(__file__).with_name("relative_dates.tsv").read_text("utf-8").splitlines()
ROWS = [row.split("\t") for row in TABLE if not row.startswith("#")]
MONDAY = date(2025, 12, 1)
WEEKDAYS = ("Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday", "Sunday")
SHORT = ("Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec")


def day_of(said):
    """The local day of `2025-11-20`, or of `2025-11-20T23:30Z Asia/Tokyo`."""
    when, _, zone = said.partition(" ")
    at = datetime.fromisoformat(when)
    at = at if at.tzinfo else at.replace(hour=12, tzinfo=UTC)
    return LocalTime(zone or "UTC").at(int(at.timestamp() * 1000)).date()


def meant(text, day):
    return "; ".join(meanings(text, day)) or "-"


def test_meanings_are_those_of_the_table():
    assert len(ROWS) >= 200
    for said, text, meaning in ROWS:
        assert meant(text, day_of(said)) == meaning, (said, text)


def test_meanings_of_weekdays_months_and_seasons_on_any_day_of_a_year():
    for today in range(7):
        for wanted, name in enumerate(WEEKDAYS):
            day, ahead = MONDAY + timedelta(today), (wanted - today) % 7
            shown = [f"{there:%b} {there.day}, 2025" for there in (day + timedelta(ahead), day + timedelta(ahead - 7))]
            assert list(meanings(f"come on {name}", day)) == shown[:1] * bool(ahead), (day, name)
            assert list(meanings(f"he came on {name}", day)) == shown[1:] * bool(ahead), (day, name)
    for month in range(1, 13):
        said, last = date(2025, month, 10), 29 if month == 2 else 30 if month in {4, 6, 9, 11} else 31
        winter = "winter 2024/25" if month < 3 else "winter 2025/26"
        assert list(meanings("we will move in July", said)) == [f"Jul {2025 + (month > 7)}"], month
        assert list(meanings("we moved in July", said)) == [f"Jul {2025 - (month < 7)}"] * (month != 7), month
        assert list(meanings("last summer was hot", said)) == [f"summer {2024 + (month > 8)}"] * (month != 9), month
        assert list(meanings("this winter is mild", said)) == [winter], month
        assert list(meanings("we will ski in the winter", said)) == ["winter 2025/26"] * (2 < month < 12), month
        due = [meant(f"pay {word} the end of the month", date(2024, month, 3)) for word in ("by", "at")]
        assert due == [f"{SHORT[month - 1]} {last}, 2024", f"{SHORT[month - 1]} 2024"], month


def test_meanings_of_days_of_months_distances_and_weekends():
    rows = (
        ("2025-02-10", "send it by February 29", "-"),
        ("2027-10-10", "send it by February 29", "Feb 29, 2028"),
        ("2025-11-05", "pay it on the 31st", "-"),
        ("2025-11-05", "we will pay on the 31st", "Dec 31, 2025"),
        ("2025-11-05", "we paid on the 31st", "Oct 31, 2025"),
        ("2025-12-20", "on Monday, January 5 we start", "Jan 5, 2026"),
        ("2025-12-20", "on Tuesday, January 5 we start", "-"),
        ("2025-12-20", "the second of January is fine", "Jan 2, 2026"),
        ("2025-12-20", "a second January in bed", "-"),
        ("2025-12-20", "from May 3-5 we rest", "-"),
        ("2026-01-31", "in one day", "Feb 1, 2026"),
        ("2026-01-31", "in 11 months", "Dec 2026"),
        ("2026-01-31", "a couple of fortnights ago", "Jan 3, 2026"),
        ("2026-01-31", "thirteen months ago", "-"),
        ("2025-12-06", "this weekend we hiked", "Dec 6-7, 2025"),
        ("2025-12-07", "over the weekend we hiked", "-"),
        ("2025-12-05", "next Monday", "Dec 8, 2025"),
        ("2025-12-06", "next Monday", "-"),
    )
    for said, text, meaning in rows:
        assert meant(text, date.fromisoformat(said)) == meaning, (said, text)


def test_the_tense_of_a_text_is_read_once_for_all_its_dates():
    before = _signs.cache_info().misses
    assert len([*meanings("We will meet on May 1. I will call on May 2. " * 9, WEDNESDAY)]) == 18
    assert _signs.cache_info().misses == before + 1


def test_meanings_stand_in_their_order_and_what_no_calendar_holds_has_none():
    text = "yesterday, last Friday and last month; yesterday"
    assert list(meanings(text, WEDNESDAY)) == ["Dec 2, 2025", "Nov 28, 2025", "Nov 2025", "Dec 2, 2025"]
    for text in ("two hundred years ago", "999 years ago", "999 months ago", "the 0th is fine", "0 May", ""):
        assert list(meanings(text, date(1, 1, 1))) == [], text

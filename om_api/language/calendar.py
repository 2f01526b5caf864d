"""The calendar in words: months and weekdays, a day as our lines write it, and the local days of a time zone."""

from __future__ import annotations

from datetime import date, datetime
from zoneinfo import ZoneInfo

MONTHS = (
    *("January", "February", "March", "April", "May", "June"),
    *("July", "August", "September", "October", "November", "December"),
)
SHORT_MONTHS = tuple(name[:3] for name in MONTHS)
WEEKDAYS = ("Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday", "Sunday")
MONTH = "|".join(dict.fromkeys((*MONTHS, "Sept", *SHORT_MONTHS)))  # of a pattern: any name of a month, without its dot
ORDINAL = "(?:st|nd|rd|th)?"  # of a pattern: what may follow the number of a day
DAY_NAMES = frozenset(
    name.lower() for name in (*MONTHS, "Sept", *SHORT_MONTHS, *WEEKDAYS, *(name[:3] for name in WEEKDAYS))
)
_FIRST, _LAST = 86_400_000, 253_402_214_400_000  # days that a datetime can be in every zone, in Unix ms


def month_number(name: str) -> int:
    """The number of a month, 1 to 12, by its name or the first three letters of it; ValueError for any other word."""
    return SHORT_MONTHS.index(name[:3].capitalize()) + 1


def show_day(day: date) -> str:
    """A date as our lines write it: Mar 14, 2025."""
    return f"{SHORT_MONTHS[day.month - 1]} {day.day}, {day.year}"


def zone_of(name: str) -> ZoneInfo:
    """The zone of an IANA name; UTC for a name that is unknown."""
    try:
        return ZoneInfo(name)
    except (KeyError, ValueError, OSError):  # no such zone, no such name, the name of a folder
        return ZoneInfo("UTC")


class LocalTime:
    """Local dates and times of an IANA zone; an unknown zone is UTC, a time out of range is clamped."""

    def __init__(self, timezone: str) -> None:
        self.zone = zone_of(timezone)
        self._days: dict[int, str] = {}

    def at(self, ms: int) -> datetime:
        """The local date and time of Unix ms."""
        return datetime.fromtimestamp(min(max(ms, _FIRST), _LAST) / 1000, self.zone)

    def day(self, ms: int) -> str:
        """The local date of Unix ms, as our lines write it."""
        if ms not in self._days:
            self._days[ms] = show_day(self.at(ms))
        return self._days[ms]

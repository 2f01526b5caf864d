"""The calendar in words: months and weekdays, a day as our lines write it, local days, and dates that a text spells out."""

import re
from bisect import bisect_right
from collections.abc import Iterable, Sequence
from datetime import date, datetime
from itertools import pairwise
from typing import NamedTuple
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
_FIRST_MS, _LAST_MS = 86_400_000, 253_402_214_400_000  # days that a datetime can be in every zone
_MONTH = rf"(?P<month{{0}}>{MONTH})\b\.?"
_DAY = rf"(?P<day{{0}}>\d{{{{1,2}}}}){ORDINAL}"
_LAST = rf"(?:\s*[-–—]\s*(?P<last{{0}}>\d{{{{1,2}}}}){ORDINAL}(?![\w:]))?"
_YEAR = r"(?:,?\s+(?P<year{0}>(?:19|20)\d\d)\b)?"
_FORMS = (
    r"(?P<year0>(?:19|20)\d\d)[-/.](?P<month0>\d\d)[-/.](?P<day0>\d\d)(?!\d)",
    r"(?P<day1>\d{1,2})\.\s?(?P<month1>\d{1,2})\.\s?(?P<year1>(?:19|20)\d\d)(?!\d)",
    _MONTH.format(2) + r"\s+" + _DAY.format(2) + r"(?![\d:])" + _LAST.format(2) + _YEAR.format(2),
    _DAY.format(3) + _LAST.format(3) + r"\s+(?:of\s+)?" + _MONTH.format(3) + _YEAR.format(3),
    _MONTH.format(4) + r",?\s+(?P<year4>(?:19|20)\d\d)\b",
)
DATE = re.compile(rf"(?<![\w.])(?:{'|'.join(_FORMS)})")
_JOINT = re.compile(r"\s*(?:[-–—]|to|until|through)\s*")
_DAYS, _MONTHS_IN_YEAR = 31, 12
_Interval = tuple[tuple[int, ...], tuple[int, ...]]


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
        return datetime.fromtimestamp(min(max(ms, _FIRST_MS), _LAST_MS) / 1000, self.zone)

    def day(self, ms: int) -> str:
        """The local date of Unix ms, as our lines write it."""
        if ms not in self._days:
            self._days[ms] = show_day(self.at(ms))
        return self._days[ms]


class Day(NamedTuple):
    """A date as it was written: `year` 0 if it was left out, `day` 0 for a whole month."""

    year: int
    month: int
    day: int


class DaySpan(NamedTuple):
    """From one day to another as they were written, both included."""

    first: Day
    last: Day


class CoveredDays:
    """The days that spans hold. Spans that overlap are joined, so that a day is looked up and not compared with each."""

    def __init__(self, spans: Iterable[DaySpan]) -> None:
        found = [*spans]
        self._dated = _joined((span.first, span.last) for span in found if span.first.year)
        self._yearly = _joined(each for span in found if not span.first.year for each in _in_any_year(span))
        self._any = _joined(each for span in found for each in _in_any_year(span))

    def hold(self, day: Day) -> bool:
        """Whether one of them holds a day; without its year, or the span's, in any year."""
        if not day.year:
            return _lies_in(self._any, day[1:])
        return _lies_in(self._dated, day) or _lies_in(self._yearly, day[1:])


def _in_any_year(span: DaySpan) -> list[_Interval]:
    first, last = span.first[1:], span.last[1:]
    return [(first, last)] if first <= last else [(first, (99,)), ((0,), last)]


def _joined(intervals: Iterable[_Interval]) -> list[_Interval]:
    joined: list[_Interval] = []
    for first, last in sorted(each for each in intervals if each[0] <= each[1]):
        if joined and first <= joined[-1][1]:
            joined[-1] = (joined[-1][0], max(joined[-1][1], last))
        else:
            joined.append((first, last))
    return joined


def _lies_in(joined: Sequence[_Interval], day: tuple[int, ...]) -> bool:
    at = bisect_right(joined, day, key=lambda each: each[0]) - 1
    return at >= 0 and day <= joined[at][1]


def days(text: str) -> list[Day]:
    """Every date of a text, in order; of a span its two ends."""
    return [day for _, _, day in _found(text)]


def spans(text: str) -> list[DaySpan]:
    """Every span of a text: `Nov 2 - Nov 28, 2025`, `Dec 3-5`, `2025-11-02 to 2025-11-28`."""
    found, joined = _found(text), []
    for (_, end, first), (start, _, last) in pairwise(found):
        if start <= end or _JOINT.fullmatch(text, end, start):
            joined.append(_span(first, last))
    return joined


def _span(first: Day, last: Day) -> DaySpan:
    """The year of one end is that of the other, but for `Dec 28 - Jan 3`; `moved from Dec 20 to Dec 4` is no span of a year."""
    turns = 2 * (first.month - last.month) > _MONTHS_IN_YEAR
    if first.year:
        return DaySpan(first, last._replace(year=last.year or first.year + turns))
    return DaySpan(first._replace(year=last.year and last.year - turns), last)


def _found(text: str) -> list[tuple[int, int, Day]]:
    """Dates with where they begin and end; the second end of `Dec 3-5` begins where the first one ends."""
    found: list[tuple[int, int, Day]] = []
    for match in DATE.finditer(text):
        part = {name.rstrip("01234"): value for name, value in match.groupdict().items() if value}
        day = Day(int(part.get("year", 0)), _month(part["month"]), int(part.get("day", 0)))
        if day.month <= _MONTHS_IN_YEAR and day.day <= _DAYS:
            found.append((match.start(), match.end(), day))
        if "last" in part:
            found.append((match.end(), match.end(), day._replace(day=int(part["last"]))))
    return found


def _month(text: str) -> int:
    return int(text) if text.isdigit() else month_number(text)

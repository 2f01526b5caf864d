"""The days that a question names: dates, and dates in words as seen from now, which look back."""

import re
from calendar import monthrange
from collections.abc import Iterator
from datetime import UTC, date, datetime, time, timedelta
from typing import NamedTuple

from om_api.domain.values import to_ms
from om_api.language.calendar import DAY_NAMES, Day, LocalTime, days, spans
from om_api.language.relative_dates import meanings
from om_api.language.spans import Span, parse_span
from om_api.language.words import word_set

_TIME = re.compile(r"\dT\d", re.IGNORECASE)
_ISO = re.compile(r"\s*\d{4}-\d")
_YEAR = re.compile(r"\b(?:in|during|from|of|since)\s+((?:19|20)\d\d)\b(?!\s*[-/.]\d)", re.IGNORECASE)
_TODAY = re.compile(r"\b(?:today|tonight|this\s+(?:morning|afternoon|evening))\b", re.IGNORECASE)
_BEHIND = "was "  # before a question: what it asks for lies behind, whatever its tense
# words of dates: they are not searched for in a question of which a date was read
DATE_WORDS = DAY_NAMES | word_set(
    """ago coming couple day days last month months next past since this today tomorrow tonight until week weekend weekends
    weeks year years yesterday morning afternoon evening night before after during early late mid"""
)


class Period(NamedTuple):
    """From one moment on until before another, in Unix ms."""

    start: int
    end: int


def periods(text: str, now_ms: int, timezone: str) -> tuple[Period, ...]:
    """The days that a text names, in a time zone; a date without its year is the last one that has begun."""
    local = LocalTime(timezone)
    today = local.at(now_ms).date()
    found = dict.fromkeys([*_written(text, today), *_meant(text, today)])
    return tuple(_period(span, local) for span in found if span.start <= today)


def period_of(text: str, timezone: str) -> Period | None:
    """The period of a text that is nothing but a date: 2025-05-01, 2025-05, 2025, May 2025, May 1, 2025."""
    whole = re.fullmatch(r"((?:19|20)\d\d)[-/.](\d{1,2})", text.strip())
    try:
        span = _month(int(whole[1]), int(whole[2])) if whole else parse_span(text)
        return _period(span, LocalTime(timezone)) if span else None
    except (ValueError, OverflowError):
        return None


def moment_of(text: str, timezone: str) -> int | None:
    """The moment (Unix ms) of a time of ISO 8601, of UTC unless it says otherwise; of a date its first one, in the time zone.

    A date is one that `period_of` reads, or any day of ISO 8601.
    """
    if _TIME.search(text) and (ms := to_ms(text)) is not None:
        return ms
    if period := period_of(text, timezone):
        return period.start
    try:
        return _midnight(date.fromisoformat(text.strip()), LocalTime(timezone))
    except (ValueError, OverflowError):  # no date alone, or one that this zone has in the year 0
        return to_ms(text) if _ISO.match(text) else None


def _meant(text: str, today: date) -> Iterator[Span]:
    yield from filter(None, map(parse_span, meanings(_BEHIND + text, today)))
    if _TODAY.search(text):
        yield Span(today, today)
    yield from (Span(date(int(year), 1, 1), date(int(year), 12, 31)) for year in _YEAR.findall(text))


def _written(text: str, today: date) -> Iterator[Span]:
    pairs = [(span.first, span.last) for span in spans(text)]
    inner = {day for pair in pairs for day in pair}
    for first, last in [*pairs, *((day, day) for day in days(text) if day not in inner)]:
        try:
            start, end = _of(first, today), _of(last, today)
        except (ValueError, OverflowError):  # February 30
            continue
        if start.start <= end.end:
            yield Span(start.start, end.end)


def _of(day: Day, today: date) -> Span:
    year = day.year or (today.year if day[1:] <= (today.month, today.day) else today.year - 1)
    return Span(date(year, day.month, day.day), date(year, day.month, day.day)) if day.day else _month(year, day.month)


def _month(year: int, month: int) -> Span:
    return Span(date(year, month, 1), date(year, month, monthrange(year, month)[1]))


def _period(span: Span, local: LocalTime) -> Period:
    return Period(_midnight(span.start, local), _midnight(span.end + timedelta(1), local))


def _midnight(day: date, local: LocalTime) -> int:
    return round(datetime.combine(day, time(), local.zone).astimezone(UTC).timestamp() * 1000)

"""Spans of days: what a text that is nothing but a date means, how long ago that was, and how far apart two are."""

import re
from calendar import monthrange
from collections.abc import Callable, Sequence
from datetime import date
from functools import lru_cache
from typing import NamedTuple

from om_api.language.calendar import MONTH, ORDINAL, month_number

LONGEST = 60  # characters of a date
REMEMBERED = 1_024
_DASH = "[-\u2013\u2014]"
_MONTH = rf"({MONTH.lower()})\.?"
_DAY = rf"(\d{{1,2}}){ORDINAL}"
_YEAR = r"((?:19|20|21)\d\d)"
_PART = r"(?:(early|mid|late)[ -])?"
_ABOUT = re.compile(r"(?:(?:on|by|in|about|around|approx\.?|approximately|circa|ca\.) |~)+")
_BETWEEN = re.compile(rf" (?:{_DASH}|to|or|and) |[\u2013\u2014]|(?<=\d)-(?=[a-z])")
_TIME = re.compile(r"(?:,? (?:at )?|t)\d{1,2}(?::\d\d(?::\d\d)?z?(?: ?[ap]m)?| ?[ap]m)$")
_NEAR = {-1: "tomorrow", 0: "today", 1: "yesterday"}
_UNITS = (("year", 365), ("month", 30), ("week", 7))
_LEAST_GAP = 2
_PART_OF_MONTH = {"early": 7, "mid": 15, "late": 23}
_PART_OF_YEAR = {"early": (2, 15), "mid": (7, 1), "late": (11, 15)}


class Span(NamedTuple):
    """From one day to another, both included; one day when they are equal."""

    start: date
    end: date


def parse_span(text: str) -> Span | None:
    """Read a date, a part of a month or a year, or a range that states its year; None for anything else.

    "Jun 10, 2025", "10 June 2025 at 14:00", "2025-06-10", "June 3-5, 2025", "Dec 30, 2024 - Jan 2, 2025", "by late 2027".
    A time of day is left aside.
    """
    return _parse_span(text) if len(text) <= LONGEST else None


@lru_cache(maxsize=REMEMBERED)  # a memory names the same days over and over
def _parse_span(text: str) -> Span | None:
    text = " ".join(text.lower().split())
    if about := _ABOUT.match(text):
        text = text[about.end() :]
    text = _TIME.sub("", text)
    return _single(text) or _range(text)


def _single(text: str) -> Span | None:
    return next((span for pattern, read in _FORMS if (span := _try(read, pattern.fullmatch(text)))), None)


def _try(read: Callable[..., Span], match: re.Match[str] | None) -> Span | None:
    try:
        return read(*match.groups()) if match else None
    except ValueError:  # the 31st of June
        return None


def _range(text: str) -> Span | None:
    between = _BETWEEN.search(text)
    end = _single(text[between.end() :]) if between else None
    if not between or not end:
        return None
    first = text[: between.start()]
    years = ("", f", {end.end.year}", f", {end.end.year - 1}")  # December to January
    starts = (start.start for year in years if (start := _single(first + year)))
    return next((Span(start, end.end) for start in starts if start <= end.end), None)


def _of_day(year: str, month: int, first: str, last: str | None = None) -> Span:
    return Span(date(int(year), month, int(first)), date(int(year), month, int(last or first)))


def _of_month(part: str | None, name: str, year: str) -> Span:
    month = month_number(name)
    if part:
        return _of_day(year, month, str(_PART_OF_MONTH[part]))
    return _of_day(year, month, "1", str(monthrange(int(year), month)[1]))


def _of_year(part: str | None, year: str) -> Span:
    if part:
        month, day = _PART_OF_YEAR[part]
        return _of_day(year, month, str(day))
    return Span(date(int(year), 1, 1), date(int(year), 12, 31))


_FORMS: tuple[tuple[re.Pattern[str], Callable[..., Span]], ...] = (
    (re.compile(rf"{_YEAR}-(\d\d)-(\d\d)"), lambda year, month, day: _of_day(year, int(month), day)),
    (re.compile(rf"{_MONTH} {_DAY},? {_YEAR}"), lambda name, day, year: _of_day(year, month_number(name), day)),
    (re.compile(rf"{_DAY} {_MONTH},? {_YEAR}"), lambda day, name, year: _of_day(year, month_number(name), day)),
    (
        re.compile(rf"{_MONTH} {_DAY} ?{_DASH} ?{_DAY},? {_YEAR}"),
        lambda name, first, last, year: _of_day(year, month_number(name), first, last),
    ),
    (re.compile(rf"{_PART}{_MONTH},? {_YEAR}"), _of_month),
    (re.compile(rf"{_PART}{_YEAR}"), _of_year),
)


def phrase(span: Span, today: date) -> str:
    """Say how far a span is from today: "3 weeks ago", "10 months ago to 9 months ago", "in 2 months to 4 months"."""
    start, end = _from(span.start, today), _from(span.end, today)
    if start == end:
        return start
    until = end.removeprefix("in ")
    return f"{start} to {until}{' from now' if until != end and not start.startswith('in ') else ''}"


def gap(before: Span, after: Span) -> str:
    """Say how long after one span another begins: "3 days later", "1 week later"; "" for less than two days."""
    days = (after.start - before.end).days
    if days < _LEAST_GAP:
        return ""
    return f"{_amount(days, _UNITS[1:])} later"  # months go on counting beyond a year: 14 say more than "1 year"


def _from(day: date, today: date) -> str:
    days = (today - day).days
    if days in _NEAR:
        return _NEAR[days]
    return f"{_amount(days)} ago" if days > 0 else f"in {_amount(-days)}"


def _amount(days: int, units: Sequence[tuple[str, int]] = _UNITS) -> str:
    """Name a distance of two days or more by its largest unit, rounded down; 14 days are 2 weeks, 30 are a month."""
    for unit, size in units:
        if days >= size:
            return f"{days // size} {unit}{'s' if days >= 2 * size else ''}"
    return f"{days} days"

"""A mention of a relative date, as its reader is given it, and the words in which that answers."""

from collections.abc import Callable
from datetime import date
from functools import cached_property
from typing import NamedTuple

from om_api.language.calendar import SHORT_MONTHS, show_day
from om_api.language.tense import Tense, tense_at


class Mention:
    """A relative date as it stands in a text: the pieces its form names, in lower case, and the day it was said."""

    def __init__(self, text: str, start: int, end: int, pieces: dict[str, str | None], day: date) -> None:
        self.text, self.start, self.end, self.day = text, start, end, day
        self._pieces = {name: " ".join((piece or "").split()) for name, piece in pieces.items()}

    def __getitem__(self, name: str) -> str:
        """A piece, "" if it is not there."""
        return self._pieces.get(name, "").lower()

    def is_lower(self, name: str) -> bool:
        """Whether a piece is written without capitals."""
        return self._pieces[name].islower()

    @cached_property
    def tense(self) -> Tense:
        """The tense of its clause."""
        return tense_at(self.text, self.start, self.end)

    @property
    def opens(self) -> bool:
        """Whether a sentence begins with it."""
        before = self.text[: self.start].rstrip(" \t*_~")
        return not before or before[-1] in ".!?:;\n-\u2013\u2014(\u2026\u00b7"


class Form(NamedTuple):
    """One kind of relative date: a pattern with named pieces, and who reads it; None is nothing one could be sure of."""

    pattern: str
    read: Callable[[Mention], str | None]


def first_of_month(day: date, step: int = 0) -> date:
    """The first day of the month that is so many months from that of a day; ValueError before the year 1."""
    months = day.year * 12 + day.month - 1 + step
    return date(months // 12, months % 12 + 1, 1)


def show_month(day: date) -> str:
    """The month of a day: Mar 2026."""
    return f"{SHORT_MONTHS[day.month - 1]} {day.year}"


def show_span(first: date, last: date) -> str:
    """From one day to another: Dec 8-14, 2025."""
    if first.year != last.year:
        return f"{show_day(first)} - {show_day(last)}"
    if first.month != last.month:
        return f"{SHORT_MONTHS[first.month - 1]} {first.day} - {SHORT_MONTHS[last.month - 1]} {last.day}, {last.year}"
    return f"{SHORT_MONTHS[first.month - 1]} {first.day}-{last.day}, {last.year}"

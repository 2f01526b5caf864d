"""Relative dates: what "next Friday" meant on the day it was said."""

import re
from collections.abc import Iterator
from datetime import date

from om_api.language import days_of_months, distances, months, seasons, weekdays
from om_api.language.calendar import DAY_NAMES, MONTH
from om_api.language.mention import Mention

# of several that begin at one place the first counts
_FORMS = (*weekdays.FORMS, *distances.FORMS, *days_of_months.FORMS, *months.FORMS, *seasons.FORMS)
_READERS = [(re.compile(form.pattern, re.IGNORECASE), form.read) for form in _FORMS]
LONGEST = 1_000  # characters that are read: the tense of each date is looked for in all of them
_UNNAMED = ("(" + re.sub(r"[(][?]P<[a-z]+>", "(?:", form.pattern) + ")" for form in _FORMS)
_ANY = re.compile(rf"\b(?:{'|'.join(_UNNAMED)})", re.IGNORECASE)
# without any of these there is nothing to read
_HINT = re.compile(
    rf"day|week|month|year|fortnight|night|tomorrow|spring|summer|autumn|fall|winter|\d(?:st|nd|rd|th)|\b(?:{MONTH})\b"
    r"|\b(?:mon|tues?|wed|thur?s?|fri|sat|sun)\b",
    re.IGNORECASE,
)
# what somebody else said, on another day, or what is a name
_QUOTED = re.compile(r"\"[^\"]*\"|“[^”]*”|„[^“”]*[“”]|«[^»]*»|‘[^’]*’|(?<![\w])'[^']+'(?!\w)")


def meanings(text: str, day: date) -> Iterator[str]:
    """The date or span that each relative expression of a text means, as text, seen from `day`.

    What a careful reader could not be sure of means nothing: what is quoted, what comes again and again, what the tense
    places neither behind nor ahead. A date with its own year is no relative one, a day of a month only if its year is not
    the current one. "Next Friday" is the Friday of the next calendar week. Of a long text, the first 1,000 characters are read.
    """
    text = text[:LONGEST]
    if not _HINT.search(text):
        return
    text = _QUOTED.sub(lambda quoted: "·" * len(quoted[0]), text)
    for found in _ANY.finditer(text):
        pattern, read = _READERS[(found.lastindex or 0) - 1]
        pieces = pattern.match(text, found.start())
        said = Mention(text, *found.span(), pieces.groupdict() if pieces else {}, day)
        try:
            meaning = None if _is_title(said) else read(said)
        except (ValueError, OverflowError):  # February 30, or a day before the year 1
            continue
        if meaning:
            yield meaning


def _is_title(said: Mention) -> bool:
    """Whether it begins with a capital that is neither a sentence's nor a name of the calendar's: "the film Next Friday"."""
    word = re.split(r"\W", said.text[said.start : said.end], maxsplit=1)[0]
    return word.istitle() and word.lower() not in DAY_NAMES and not said.opens

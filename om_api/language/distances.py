"""Distances: so many days, weeks, months or years from the day it was said: "tomorrow", "two weeks ago", "next month"."""

import re
from datetime import date, timedelta

from om_api.language.calendar import WEEKDAYS, show_day
from om_api.language.mention import Form, Mention, first_of_month, show_month, show_span
from om_api.language.tense import Tense

_COUNTS = {"a couple of": 2, "couple of": 2, "a": 1, "an": 1} | {
    word: number
    for number, word in enumerate(
        (*("one", "two", "three", "four", "five", "six"), *("seven", "eight", "nine", "ten", "eleven", "twelve")), 1
    )
}
_COUNT = rf"(?P<count>(?:a\s+)?couple\s+of|\d{{1,3}}|{'|'.join(_COUNTS)})"
_UNIT = r"(?P<unit>day|week|fortnight|month|year)s?\b"
_CALENDAR = r"(?P<unit>weekend|week|month|year)\b"
_DAYS = "|".join(WEEKDAYS)
_HEDGE = r"(?:(?:about|around|roughly|nearly|almost|approximately|over|than|least|maybe|perhaps|or|to)\s+|[-\u2013.,/](?=\d))"
_WORDS = {
    "yesterday": -1,
    "last night": -1,
    "tomorrow": 1,
    "day before yesterday": -2,
    "night before last": -2,
    "day after tomorrow": 2,
}
_STEPS = {"before last": -2, "last": -1, "past": -1, "this": 0, "coming": 1, "next": 1, "after next": 2}
_LENGTHS = {"day": 1, "week": 7, "fortnight": 14}
_SATURDAY = 5
# where so many days are how long something took or was not, or what somebody is able to do
_DURATION = re.compile(r"\b(?:(?:have|has|had)n['’]?t|never|not|first|only|ever|can|could|most|times)\b", re.IGNORECASE)


def _word(said: Mention) -> str:
    return show_day(said.day + timedelta(_WORDS[said["word"]]))


def _ago(said: Mention) -> str | None:
    return None if said["hedge"] else _away(said, said.day, -1)


def _in(said: Mention) -> str | None:
    lasted = said.tense in (Tense.BEHIND, Tense.UNSURE) or _DURATION.search(said.text)
    return None if lasted else _away(said, said.day)


def _from(said: Mention) -> str | None:
    if said["anchor"] in {"now", "today"}:
        return _away(said, said.day)
    if said["anchor"] == "tomorrow":
        return _away(said, said.day + timedelta(1))
    days = (WEEKDAYS.index(said["anchor"].capitalize()) - said.day.weekday()) % 7
    return _away(said, said.day + timedelta(days)) if days and said.tense is not Tense.BEHIND else None


def _away(said: Mention, day: date, toward: int = 1) -> str:
    word, unit = said["count"], said["unit"]
    count = toward * (int(word) if word.isdigit() else _COUNTS[word])
    if unit == "month":
        return show_month(first_of_month(day, count))
    return (
        str(day.replace(day.year + count, 1, 1).year)
        if unit == "year"
        else show_day(day + timedelta(count * _LENGTHS[unit]))
    )


def _which(said: Mention) -> str | None:
    """A calendar's week, month or year; "the past week" is any seven days."""
    unit, which = said["unit"], said["which"]
    if said["the"] or (which in {"past", "coming"} and unit != "weekend"):
        return None
    step = _STEPS[which]
    if unit == "weekend" and which in {"this", "past", "coming"}:
        over = said.tense is Tense.BEHIND and said.day.weekday() < _SATURDAY
        return _weekend(said, step or (-1 if over else 1))
    if unit in {"month", "year"}:
        return show_month(first_of_month(said.day, step)) if unit == "month" else str(said.day.year + step)
    monday = said.day + timedelta(7 * step - said.day.weekday())
    return show_span(monday + timedelta(_SATURDAY * (unit == "weekend")), monday + timedelta(6))


def _the_weekend(said: Mention) -> str | None:
    sure = said.tense in (Tense.AHEAD, Tense.BEHIND) and said.day.weekday() < _SATURDAY
    return _weekend(said, said.tense.value) if sure else None


def _weekend(said: Mention, toward: int) -> str:
    """The one at hand or to come; or the one before."""
    saturday = said.day + timedelta(_SATURDAY - said.day.weekday() - 7 * (toward < 0))
    return show_span(saturday, saturday + timedelta(1))


FORMS = (
    Form(
        rf"(?<!like )(?<!like just )(?<!like it was )(?:the\s+)?(?P<word>{'|'.join(_WORDS).replace(' ', '[ ]+')})\b",
        _word,
    ),
    Form(
        rf"(?P<the>the\s+)?(?P<which>last|next|this|coming|past)\s+{_CALENDAR}(?!\s+(?:of|or)\b)",
        _which,
    ),
    Form(rf"the\s+{_CALENDAR}\s+(?P<which>before\s+last|after\s+next)\b", _which),
    Form(r"the\s+weekend\b(?!\s+(?:of|before|after)\b)", _the_weekend),
    Form(rf"in\s+{_COUNT}\s+{_UNIT}(?!\s+(?:of|or|and|a|an|in)\b)(?:['’]s?\s+time\b)?", _in),
    Form(rf"{_COUNT}\s+{_UNIT}\s+(?:from|(?<=week\s)on)\s+(?P<anchor>now|today|tomorrow|{_DAYS})\b", _from),
    Form(rf"(?P<hedge>{_HEDGE})?{_COUNT}\s+{_UNIT}\s+ago\b(?!\s+(?:yesterday|last|(?:on\s+)?(?:{_DAYS}))\b)", _ago),
)

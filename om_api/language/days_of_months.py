"""Days of months: the year of "January 9", the month of "the 3rd"."""

import re
from calendar import monthrange
from datetime import date, timedelta

from om_api.language.calendar import MONTH, ORDINAL, WEEKDAYS, month_number, show_day
from om_api.language.mention import Form, Mention
from om_api.language.tense import Tense

_NTH = {
    word: number
    for number, word in enumerate(
        (*("first", "second", "third", "fourth", "fifth"), *("sixth", "seventh", "eighth", "ninth", "tenth")), 1
    )
} | {"fifteenth": 15, "twentieth": 20, "thirtieth": 30}
_MONTH = rf"(?P<month>{MONTH})\b\.?"
_NEAR = r"(?:(?P<near>until|till|by|before|through|since|from|of|to|for)\s+(?:the\s+)?)?"
_LIMITS = {"until", "till", "by", "before", "through"}
_AGREED = rf"(?:(?P<agreed>{'|'.join(WEEKDAYS)}),?\s+)?"
_ALONE = (
    r"(?:\s+of\s+(?:the|this)\s+month\b)?"
    r"(?=\s*(?:$|[.,;:!?)])|\s+(?:is|was|works?|at|if|and|or|because|then|so|i|we|you|he|she|it|they)\b)"
)
_ANY_MONTH = re.compile(rf"\b(?:{MONTH})\b")
_SURE = timedelta(120)  # ahead, where there is no tense


def _day_of_month(said: Mention) -> str | None:
    """Nothing where the year is the current one: the line that it stands in is dated."""
    if said.is_lower("month") and said["month"] in {"may", "march"}:
        return None
    month = month_number(said["month"])
    meant = _meant(said, [(said.day.year + step, month) for step in (-1, 0, 1)])
    return show_day(meant) if meant and meant.year != said.day.year else None


def _ordinal(said: Mention) -> str | None:
    """A day of this month, the last or the next one; in the midst of a sentence "the 3rd" alone need not be a day."""
    alone = not (said["near"] or said["agreed"] or said.opens)
    if alone or _ANY_MONTH.search(said.text):
        return None
    months = said.day.year * 12 + said.day.month - 1
    places = [divmod(months + step, 12) for step in (-1, 0, 1)]
    meant = _meant(said, [(year, month + 1) for year, month in places])
    return show_day(meant) if meant else None


def _meant(said: Mention, months: list[tuple[int, int]]) -> date | None:
    """The day in one of these months that the tense speaks of, and that has the weekday that is named; none that is today."""
    number = _NTH.get(said["number"]) or int(said["number"].rstrip("stndrh"))
    days = [date(*month, number) for month in months if 0 < number <= monthrange(*month)[1]]
    near = [day for day in days if said["agreed"] in {"", WEEKDAYS[day.weekday()].lower()}]
    before, after = [day for day in near if day < said.day], [day for day in near if day > said.day]
    if said.tense is Tense.UNSURE or said.day in near:
        return None
    if said.tense is Tense.BEHIND or said["near"] == "since":
        sure = before and said["near"] not in {*_LIMITS, "to", "for"}
        return before[-1] if sure else None
    sure = after and said["near"] not in {"from", "of"}
    limited = said.tense is Tense.AHEAD or said["near"] in _LIMITS
    return after[0] if sure and (limited or _is_near(said, before, after[0])) else None


def _is_near(said: Mention, before: list[date], day: date) -> bool:
    return day - said.day <= _SURE and not (before and said.day - before[-1] < day - said.day)


FORMS = (
    Form(
        rf"{_NEAR}{_AGREED}(?<![\d.\u2013-])(?P<number>\d{{1,2}}{ORDINAL}|(?:{'|'.join(_NTH)})(?=\s+of\b))(?:\s+of)?\s+{_MONTH}",
        _day_of_month,
    ),
    Form(rf"{_NEAR}{_AGREED}{_MONTH}\s+(?P<number>\d{{1,2}}){ORDINAL}\b(?!:|\s*[-\u2013]\s*\d)", _day_of_month),
    Form(
        rf"(?:(?P<near>until|till|to|by|on|before|after|since|from|for)\s+)?{_AGREED}the\s+(?P<number>\d{{1,2}})(?:st|nd|rd|th)\b{_ALONE}",
        _ordinal,
    ),
)

"""Relative dates: what "next Friday" meant on the day it was said."""

import re
from collections.abc import Callable, Iterator
from datetime import date, timedelta

from om_api.language.calendar import MONTH, ORDINAL, SHORT_MONTHS, WEEKDAYS, month_number, show_day

_COUNTS = {
    word: number
    for number, group in enumerate(("", "a an one", "two couple", "three", "four", "five", "six", "seven", "eight"))
    for word in group.split()
} | {"nine": 9, "ten": 10, "twelve": 12}
_COUNT = r"(?:(?:a\s+)?couple\s+of|\d{1,3}|" + "|".join(_COUNTS) + ")"
_UNIT = r"(?:day|week|month|year)s?"
_MONTH = rf"(?:{MONTH})\b\.?"
_NO_YEAR = r"(?!,?\s+(?:19|20)\d\d)"
_EXPRESSION = re.compile(
    rf"""(?x)\b(?:
    (?P<word>day\s+before\s+yesterday|day\s+after\s+tomorrow|yesterday|tomorrow|last\s+night)\b
    |(?P<which>last|next|this|coming|past)\s+(?P<span>week|weekend|month|year)\b
    |in\s+(?P<ahead>{_COUNT})\s+(?P<ahead_unit>{_UNIT})\b(?!\s+of)
    |(?P<past>{_COUNT})\s+(?P<past_unit>{_UNIT})\s+ago\b
    |(?:(?P<before>\w+)\s+)?(?P<day>{"|".join(WEEKDAYS)})\b(?!['’]?s\b)
    |(?:(?P<until>until|till|by|before|through)\s+(?:the\s+)?)?(?P<number>\d{{1,2}}){ORDINAL}(?:\s+of)?\s+(?P<of_month>{_MONTH}){_NO_YEAR}
    |(?:(?P<through>until|till|by|before|through)\s+)?(?P<month>{_MONTH})\s+(?P<month_day>\d{{1,2}}){ORDINAL}\b(?!:){_NO_YEAR}
    |(?P<near>in|by|until|till|since|last|next|this|early|mid|late|before|after)[\s-]+(?P<bare>{_MONTH})(?!\s+\d){_NO_YEAR}
    |(?:the|until|to|till|by)\s+(?P<ordinal>\d{{1,2}})(?:st|nd|rd|th)\b(?!\s+(?:of\b|{_MONTH}))
    )""",
    re.IGNORECASE,
)
_SURE = timedelta(120)
_PAST = re.compile(
    r"\b(?:was|were|had|did|went|met|came|got|bought|saw|left|took|made|said|told|gave|sold|flew|ran|began"
    r"|[a-z]{2,}(?<!ne)(?<!sp)ed)\b",
    re.IGNORECASE,
)


def annotate(text: str, day: date, *, briefly: bool = False) -> str:
    """Append what relative dates in a text said on `day` mean, two at most: `... (meaning Mar 14, 2025)`.

    Briefly it is one, without the year that the text is dated with: `... (Mar 14)`.
    """
    notes = list(dict.fromkeys(meanings(text, day)))
    if briefly:
        return " ".join([text, *(f"({note.removesuffix(f', {day.year}')})" for note in notes[:1])])
    return " ".join([text, *(f"(meaning {note})" for note in notes[:2])])


def meanings(text: str, day: date) -> Iterator[str]:
    """The date or span that each relative expression of a text means, as text, seen from `day`.

    A date with its own year is none, a day of a month only if its year is not the current one. Weekdays and months
    without `last` or `next` lie ahead, or behind if the text is in the past tense. "Next Friday" is the Friday of the
    next calendar week.
    """
    for found in _EXPRESSION.finditer(text):
        group = {name: " ".join(value.lower().split()) for name, value in found.groupdict().items() if value}
        read = next(reader for name, reader in _READERS.items() if name in group)
        try:
            meaning = read(group, day, -1 if _PAST.search(text) else 1)
        except (ValueError, OverflowError):  # February 30, or a day before the year 1
            continue
        if meaning:
            yield meaning


def _word(group: dict[str, str], day: date, _toward: int) -> str:
    steps = {"yesterday": -1, "last night": -1, "tomorrow": 1, "day before yesterday": -2, "day after tomorrow": 2}
    return show_day(day + timedelta(steps[group["word"]]))


def _which(group: dict[str, str], day: date, _toward: int) -> str:
    step = {"last": -1, "past": -1, "this": 0}.get(group["which"], 1)
    monday = day - timedelta(day.weekday()) + timedelta(7 * step)
    if group["span"] == "week":
        return _span(monday, monday + timedelta(6))
    if group["span"] == "weekend":
        return _span(monday + timedelta(5), monday + timedelta(6))
    return _month_of(day, step) if group["span"] == "month" else str(day.year + step)


def _weekday(group: dict[str, str], day: date, toward: int) -> str | None:
    before, wanted = group.get("before", ""), WEEKDAYS.index(group["day"].capitalize())
    if before in {"every", "each", "happy", "good", "black", "any"}:
        return None
    monday = day - timedelta(day.weekday())
    if before == "next":
        return show_day(monday + timedelta(7 + wanted))
    if before == "last" or (toward < 0 and before not in {"this", "by", "until", "till", "coming"}):
        return show_day(day - timedelta((day.weekday() - wanted - 1) % 7 + 1))
    return show_day(day + timedelta((wanted - day.weekday()) % 7))


def _day_of_month(group: dict[str, str], day: date, _toward: int) -> str | None:
    """The nearest such day, or the next one after a word like `until`; none when it is too far off to be sure of."""
    month = month_number(group.get("of_month") or group["month"])
    number = int(group.get("number") or group["month_day"])
    near = [date(day.year + step, month, number) for step in (-1, 0, 1)]
    if "until" in group or "through" in group:
        meant = next(candidate for candidate in near if candidate >= day)
    else:
        meant = min(near, key=lambda candidate: abs(candidate - day))
        if abs(meant - day) > _SURE:
            return None
    return None if meant.year == day.year else show_day(meant)


def _bare_month(group: dict[str, str], day: date, toward: int) -> str:
    month = month_number(group["bare"])
    back = group["near"] in {"last", "since"} or (toward < 0 and group["near"] not in {"by", "until", "till", "next"})
    year = day.year - (month > day.month) if back else day.year + (month < day.month)
    return f"{SHORT_MONTHS[month - 1]} {year}"


def _ordinal(group: dict[str, str], day: date, toward: int) -> str:
    number = int(group["ordinal"])
    month = day.year * 12 + day.month - 1
    if toward * number < toward * day.day:
        month += toward
    return show_day(date(month // 12, month % 12 + 1, number))


_READERS: dict[str, Callable[[dict[str, str], date, int], str | None]] = {
    "word": _word,
    "which": _which,
    "ahead": lambda group, day, _: _shift(day, _count(group["ahead"]), group["ahead_unit"]),
    "past": lambda group, day, _: _shift(day, -_count(group["past"]), group["past_unit"]),
    "day": _weekday,
    "of_month": _day_of_month,
    "month": _day_of_month,
    "bare": _bare_month,
    "ordinal": _ordinal,
}


def _count(word: str) -> int:
    return int(word) if word.isdigit() else 2 if "couple" in word else _COUNTS[word]


def _shift(day: date, count: int, unit: str) -> str:
    if unit.startswith("month"):
        return _month_of(day, count)
    if unit.startswith("year"):
        return str(day.year + count)
    return show_day(day + timedelta(count * (7 if unit.startswith("week") else 1)))


def _month_of(day: date, step: int) -> str:
    month = day.year * 12 + day.month - 1 + step
    return f"{SHORT_MONTHS[month % 12]} {month // 12}"


def _span(first: date, last: date) -> str:
    if first.year != last.year:
        return f"{show_day(first)} - {show_day(last)}"
    if first.month != last.month:
        return f"{SHORT_MONTHS[first.month - 1]} {first.day} - {SHORT_MONTHS[last.month - 1]} {last.day}, {last.year}"
    return f"{SHORT_MONTHS[first.month - 1]} {first.day}-{last.day}, {last.year}"

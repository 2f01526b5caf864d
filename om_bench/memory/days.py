"""Explicit dates: the days that a text spells out."""

import re

from om_api.language.calendar import MONTH, ORDINAL, month_number
from om_bench.harness.talks import Talk

_DAY = rf"(?P<day>3[01]|[12]\d|0?[1-9]){ORDINAL}(?![\d:%])"
_NAMED = [
    re.compile(pattern, re.IGNORECASE)
    for pattern in (
        rf"\b(?P<month>{MONTH})\b\.?\s+(?:the\s+)?{_DAY}",
        rf"\b{_DAY}\s+(?:of\s+)?(?P<month>{MONTH})\b",
        r"\b(?:19|20)\d\d-(?P<month>\d\d)-(?P<day>\d\d)(?!\d)",
    )
]


def named_days(text: str) -> set[tuple[int, int]]:
    """The (month, day) pairs that talk names, months in lower case too: "may the 7th", "7th of May 2023", "2023-05-07"."""
    named = ((match["month"], int(match["day"])) for pattern in _NAMED for match in pattern.finditer(text))
    return {(int(month) if month.isdigit() else month_number(month), day) for month, day in named}


def spelled_out(talk: Talk, text: str) -> tuple[int, int]:
    """Of how many questions that a day answers a text spells it out, and how many there are."""
    days, answers = named_days(text), [named_days(question.answer) for question in talk.questions]
    return sum(1 for answer in answers if answer and answer <= days), sum(map(bool, answers))

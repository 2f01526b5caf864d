"""Named dates: the calendar days that a text spells out, however it does."""

from __future__ import annotations

import re

from om_workers.llm.extractive.dates import SHORT_MONTHS

_MONTH = (
    r"(?P<month>jan(?:uary)?|feb(?:ruary)?|mar(?:ch)?|apr(?:il)?|may|june?|july?|aug(?:ust)?|sept?(?:ember)?"
    r"|oct(?:ober)?|nov(?:ember)?|dec(?:ember)?)\b\.?"
)
_DAY = r"(?P<day>3[01]|[12]\d|0?[1-9])(?:st|nd|rd|th)?(?![\d:%])"
_SPELLED = [
    re.compile(pattern, re.IGNORECASE)
    for pattern in (
        rf"\b{_MONTH}\s+(?:the\s+)?{_DAY}",
        rf"\b{_DAY}\s+(?:of\s+)?{_MONTH}",
        r"\b(?:19|20)\d\d-(?P<number>\d\d)-(?P<day>\d\d)(?!\d)",
    )
]
_NUMBERS = {name.lower(): number for number, name in enumerate(SHORT_MONTHS, 1)}


def named(text: str) -> set[tuple[int, int]]:
    """The (month, day) pairs that a text names: "May 7", "7th of May 2023", "2023-05-07"; relative ones are none."""
    return {_read(found.groupdict()) for pattern in _SPELLED for found in pattern.finditer(text)}


def _read(found: dict[str, str]) -> tuple[int, int]:
    return int(found.get("number") or _NUMBERS[found["month"].lower()[:3]]), int(found["day"])

"""How old the dates in a memory are today, and which of its plans are past: what must not be written into the notes."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, NamedTuple

from om_api.context.dates import Span, parse_span, phrase
from om_api.tags import escape

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator
    from datetime import date

MAX_DATES = 40
MAX_PLANS = 20
_HEADER = "Date: "
_NOTES = ("(meaning ", "(estimated ")
_LONGEST_NOTE = 80
_SHOWN = 80
_INTENT = re.compile(
    r"\b(?:will|plans? to|planning to|looking forward to|going to|intends? to|wants? to|needs? to|about to)\b",
    re.IGNORECASE,
)
_BULLET = re.compile(r"^[^\w\"'(]*(?:\(\d{1,2}:\d\d\)\s*)?")


class Dated(NamedTuple):
    """A date as a text spells it, the days it means, and the line of the plan it belongs to ("" for a header)."""

    spelled: str
    span: Span
    plan: str = ""


def ages(texts: Iterable[str], today: date) -> list[str]:
    """Lines for the texts' dates: one map of header to age, then plans that are past; [] when nothing is dated.

    The newest 40 headers and the newest 20 plans are listed, oldest first.
    """
    found = {dated: None for text in texts for dated in (*_headers(text), *_plans(text))}
    headers = _newest((dated for dated in found if not dated.plan), MAX_DATES)
    past = _newest((dated for dated in found if dated.plan and dated.span.end < today), MAX_PLANS)
    lines = [f"Dates above, seen from today: {'; '.join(_age(dated, today) for dated in headers)}"] if headers else []
    if past:
        lines += ["Plans above whose date has passed:", *(f"- {_past_plan(dated, today)}" for dated in past)]
    return lines


def _newest(found: Iterable[Dated], most: int) -> list[Dated]:
    return sorted(found, key=lambda dated: (dated.span.end, dated.span.start))[-most:]


def _age(dated: Dated, today: date) -> str:
    return f"{dated.spelled} = {phrase(dated.span, today)}"


def _past_plan(dated: Dated, today: date) -> str:
    return f'"{escape(_shown(dated.plan))}" ({_age(dated, today)}, likely already happened)'


def _headers(text: str) -> Iterator[Dated]:
    for at in _starts(text, _HEADER):
        if at == 0 or text[at - 1] == "\n":
            spelled = _line_from(text, at + len(_HEADER)).strip()
            if span := parse_span(spelled):
                yield Dated(spelled, span)


def _plans(text: str) -> Iterator[Dated]:
    for opening in _NOTES:
        for at in _starts(text, opening):
            line = text[text.rfind("\n", 0, at) + 1 : at]
            spelled = text[at + 1 : at + _LONGEST_NOTE].partition(")")[0]
            span = parse_span(spelled.partition(" ")[2])
            if span and _INTENT.search(line):
                yield Dated(spelled, span, line)


def _shown(line: str) -> str:
    plan = " ".join(_BULLET.sub("", line, count=1).split())
    return plan if len(plan) <= _SHOWN else f"{plan[: _SHOWN - 1]}…"


def _starts(text: str, word: str) -> Iterator[int]:
    """Where `word` stands: plain finds, because a pass of a regex over 160 kB is felt on every read."""
    at = text.find(word)
    while at >= 0:
        yield at
        at = text.find(word, at + 1)


def _line_from(text: str, at: int) -> str:
    end = text.find("\n", at)
    return text[at : end if end >= 0 else None]

"""How old the dates in a memory are today, how far apart, and which of its plans are past: never written into the notes."""

import re
from collections.abc import Iterable, Iterator, Sequence
from datetime import date
from itertools import pairwise
from typing import NamedTuple

from om_api.domain.tags import escape
from om_api.language.spans import Span, gap, parse_span, phrase

MAX_DATES = 12
MAX_NAMED = 8
MAX_PLANS = 5
_HEADER = "Date: "
_NOTES = ("(meaning ", "(estimated ")
_LONGEST_NOTE = 80
_LONGEST_LINE = 1_000  # characters of a line that are read for an intention
_SHOWN = 80
_INTENT = re.compile(
    r"\b(?:will|plans? to|planning to|looking forward to|going to|intends? to|wants? to|needs? to|about to)\b",
    re.IGNORECASE,
)
_BULLET = re.compile(r"^[^\w\"'(]*(?:\(\d{1,2}:\d\d\)\s*)?")


class Dated(NamedTuple):
    """A date as a text spells it, the days it means, and the line it was noted in ("" for a header)."""

    spelled: str
    span: Span
    line: str = ""


def ages(texts: Iterable[str], today: date) -> list[str]:
    """Lines for the texts' dates; [] when nothing is dated.

    One map of header to age, with the gap since the one before where it is two days or more; one of the dates that
    notes refer to; then plans that are past. The newest 12, 8 and 5 are listed, oldest first, for this block is paid for
    anew with every call.
    """
    found = {dated: None for text in texts for dated in (*_headers(text), *_notes(text))}
    headers = _newest((dated for dated in found if not dated.line), MAX_DATES)
    over = [dated for dated in found if dated.span.end < today]
    intents = {line for line in {dated.line for dated in over} if _INTENT.search(line)}
    past = [dated for dated in over if dated.line in intents]
    return [*_map(headers, today), *_named(found.keys() - past, headers, today), *_past(past, today)]


def _map(headers: Sequence[Dated], today: date) -> list[str]:
    gaps = ["", *(gap(before.span, after.span) for before, after in pairwise(headers))]
    aged = [
        f"{f'[{later}] ' if later else ''}{_age(dated, today)}" for later, dated in zip(gaps, headers, strict=False)
    ]
    return [f"Dates above, seen from today: {'; '.join(aged)}"] if aged else []


def _named(found: Iterable[Dated], headers: Iterable[Dated], today: date) -> list[str]:
    """The dates that are no headers, each once however many notes refer to it."""
    bare = {Dated(dated.spelled.partition(" ")[2], dated.span) for dated in found if dated.line}
    named = _newest(bare - {*headers}, MAX_NAMED)
    return [f"Dates that notes above refer to: {'; '.join(_age(dated, today) for dated in named)}"] if named else []


def _past(plans: Iterable[Dated], today: date) -> list[str]:
    past = _newest(plans, MAX_PLANS)
    return ["Plans above whose date has passed:", *(f"- {_past_plan(dated, today)}" for dated in past)] if past else []


def _newest(found: Iterable[Dated], most: int) -> list[Dated]:
    return sorted(found, key=lambda dated: (dated.span.end, dated.span.start, dated.spelled))[-most:]


def _age(dated: Dated, today: date) -> str:
    return f"{dated.spelled} = {phrase(dated.span, today)}"


def _past_plan(dated: Dated, today: date) -> str:
    return f'"{escape(_shown(dated.line))}" ({_age(dated, today)}, likely already happened)'


def _headers(text: str) -> Iterator[Dated]:
    for at in _starts(text, _HEADER):
        if at == 0 or text[at - 1] == "\n":
            spelled = _line_from(text, at + len(_HEADER)).strip()
            if span := parse_span(spelled):
                yield Dated(spelled, span)


def _notes(text: str) -> Iterator[Dated]:
    for opening in _NOTES:
        for at in _starts(text, opening):
            start = text.rfind("\n", 0, at) + 1
            line = text[start : min(at, start + _LONGEST_LINE)]
            spelled = " ".join(text[at + 1 : at + _LONGEST_NOTE].partition(")")[0].split())
            if span := parse_span(spelled.partition(" ")[2]):
                yield Dated(spelled, span, line or spelled)


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

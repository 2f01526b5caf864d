"""Marked lines: what notes only quote, because it speaks to their reader, or claims to be true of the user."""

import re
from typing import Literal, NamedTuple

from om_api.domain.note_lines import body, told

MARK = "⚠"
LONGEST = 300  # characters of a quote
_LONGEST_NAME = 60
Kind = Literal["order", "claim"]
_KINDS = {"order": ("Quoted from", "not to be followed"), "claim": ("Said by", "not by the user")}
_WAYS = "|".join(rf"{verb} (?P<{kind}>[^:\"\n]{{1,100}}), {word}" for kind, (verb, word) in _KINDS.items())
_FORM = re.compile(rf'{MARK} (?:{_WAYS}): "(?P<said>[^"\n]{{0,{LONGEST + 10}}})"')
_QUOTES = re.compile('["“”„‟«»″＂〝〞]')
_NAMELESS = re.compile(r"[^\w .@/+-]+")
_SPACE = re.compile(r"\s+")


class Mark(NamedTuple):
    """What a marked line quotes: an `order` to its reader or a `claim` about the user, whose words these are, and the words."""

    kind: Kind
    source: str
    said: str


def marked(mark: Mark) -> str:
    """What a line says that quotes: one line, of bounded length, whose only quotation marks are the two around the words."""
    verb, word = _KINDS[mark.kind]
    source = _SPACE.sub(" ", _NAMELESS.sub(" ", mark.source)).strip()[:_LONGEST_NAME] or "somebody"
    said = _SPACE.sub(" ", _QUOTES.sub("'", mark.said).replace(MARK, "")).strip()
    said = said if len(said) <= LONGEST else f"{said[:LONGEST]} ..."
    return f'{MARK} {verb} {source}, {word}: "{said}"'


def mark_of(line: str) -> Mark | None:
    """What a line of notes quotes; None for one that is not marked, or only looks as if it were."""
    if MARK not in line or not (found := _FORM.fullmatch(body(line).rstrip())):
        return None
    kind: Kind = "order" if found["order"] else "claim"
    return Mark(kind, found[kind], found["said"])


def marked_lines(text: str) -> int:
    """How many lines of notes are marked."""
    return sum(mark_of(line) is not None for line in text.split("\n") if told(line)) if MARK in text else 0

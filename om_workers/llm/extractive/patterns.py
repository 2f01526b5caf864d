"""Patterns: what came up on several dates."""

from collections.abc import Iterator, Sequence
from itertools import pairwise

from om_api.language.words import CHATTER, STOP, words
from om_api.patterns.pattern import Pattern
from om_workers.llm.extractive import cues
from om_workers.llm.extractive.notes import DatedNote

DATES = 3  # different dates from which on a recurrence is a pattern
_MOST = 3
_MARK = "Pattern:"
_MEANING = Pattern(r"\((?:meaning|estimated) [^)]*\)")
_SPEAKERS = frozenset({"user", "assistant", "asked", "stated", "says", "said"})
_SAYS = {
    "error": "{words} fails again and again",
    "preference": "the user keeps asking for {words}",
    "topic": "{words} comes up again and again",
}

Key = tuple[str, str, str]


def apart(found: Sequence[DatedNote]) -> tuple[list[DatedNote], list[str]]:
    """Split notes into lines and the texts of the patterns that an earlier reflection found."""
    lines = [note for note in found if not note.text.startswith(_MARK)]
    return lines, [note.text for note in found if note.text.startswith(_MARK)]


def find(lines: Sequence[DatedNote], known: Sequence[str] = ()) -> list[str]:
    """At most three `Pattern: ...` texts: pairs of words on three or more dates, errors and preferences first.

    Patterns `known` from before stay while there is room and no new one is about the same words.
    """
    days: dict[Key, list[str]] = {}
    for note in lines:
        for key in set(_keys(note)) if note.day else ():
            if note.day not in days.setdefault(key, []):
                days[key].append(note.day)
    often = [key for key, dates in days.items() if len(dates) >= DATES]
    often.sort(key=lambda key: (key[0] == "topic", -len(days[key]), key))
    said = ((_SAYS[kind].format(words=f"{one} {other}"), days[kind, one, other]) for kind, one, other in often)
    found = (f"{_MARK} {text} ({len(dates)} dates, {dates[0]} to {dates[-1]})" for text, dates in said)
    return _distinct([*found, *reversed(known)])


def _keys(note: DatedNote) -> Iterator[Key]:
    """The pairs of neighbouring words that carry something, each with the kind of line it stands in."""
    text = _MEANING.sub("", note.text)
    said = words(text)
    if kind := _kind(text, said):
        telling = [
            word for word in said if not (word in STOP or word in CHATTER or word in _SPEAKERS or word[0].isdigit())
        ]
        yield from ((kind, *pair) for pair in pairwise(telling))


def _kind(text: str, said: list[str]) -> str:
    found = cues.read(text, said)
    if found.error:
        return "error"
    if not said or said[0] != "user":  # what a tool returns is alike every time
        return ""
    return "preference" if found.preference else "topic"


def _distinct(texts: Sequence[str]) -> list[str]:
    """The first few texts that share no telling word with one before them."""
    kept: list[str] = []
    used: set[str] = set()
    for text in texts:
        about = set(words(text.partition("(")[0])) - _COMMON
        if not about & used and len(kept) < _MOST:
            kept.append(text)
            used |= about
    return kept


_COMMON = {word for says in _SAYS.values() for word in words(says)} | STOP | {"pattern"}

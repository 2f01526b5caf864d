"""What became of a text, word by word where lines are alike; lines are matched first, so that long texts take no time."""

import re
from collections.abc import Iterator, Sequence
from difflib import SequenceMatcher
from typing import Literal, NamedTuple

_WORD = re.compile(r"\s+|[^\s\w]|\w+")
_MOST = 4_000  # words of a changed passage that are compared by themselves
_MOST_PAIRS = 250_000  # of changed lines that are held against each other


class Change(NamedTuple):
    """A stretch of text that is in both, was taken out, or was put in."""

    what: Literal["same", "gone", "new"]
    text: str


def word_diff(before: str, now: str) -> list[Change]:
    """The changes from one text to another, in reading order; what is in both and what is new make up the other one."""
    return list(_joined(_changes(before.splitlines(keepends=True), now.splitlines(keepends=True))))


def _changes(before: Sequence[str], now: Sequence[str]) -> Iterator[Change]:
    for tag, a, b, c, d in SequenceMatcher(None, before, now, autojunk=False).get_opcodes():
        if tag == "replace":
            yield from _of_lines(before[a:b], now[c:d])
        elif tag == "equal":
            yield Change("same", "".join(now[c:d]))
        else:
            yield from (Change("gone", "".join(before[a:b])), Change("new", "".join(now[c:d])))


def _of_lines(before: Sequence[str], now: Sequence[str]) -> Iterator[Change]:
    """Lines that are alike word by word, all others whole: word by word, what has nothing in common cannot be read."""
    at, new = 0, ""
    words = [_said(line) for line in before] if len(before) * len(now) <= _MOST_PAIRS else []
    for line in now:
        said = _said(line)
        like = next((n for n in range(at, len(words)) if _are_alike(words[n], said)), None)
        if like is None:
            new += line
            continue
        yield from (Change("gone", "".join(before[at:like])), Change("new", new), *_of_words(before[like], line))
        at, new = like + 1, ""
    yield from (Change("gone", "".join(before[at:])), Change("new", new))


def _said(line: str) -> set[str]:
    return set(re.findall(r"\w+", line))


def _are_alike(one: set[str], other: set[str]) -> bool:
    return 2 * len(one & other) > max(len(one), len(other))


def _of_words(before: str, now: str) -> Iterator[Change]:
    old, new = _WORD.findall(before), _WORD.findall(now)
    if len(old) + len(new) > _MOST:
        yield from (Change("gone", before), Change("new", now))
        return
    for tag, a, b, c, d in SequenceMatcher(None, old, new, autojunk=False).get_opcodes():
        if tag == "equal":
            yield Change("same", "".join(new[c:d]))
        else:
            yield from (Change("gone", "".join(old[a:b])), Change("new", "".join(new[c:d])))


def _joined(changes: Iterator[Change]) -> Iterator[Change]:
    """The same without empty stretches, neighbours of a kind made one."""
    last: Change | None = None
    for change in changes:
        if not change.text:
            continue
        if last and last.what == change.what:
            last = Change(last.what, last.text + change.text)
            continue
        if last:
            yield last
        last = change
    if last:
        yield last

"""What became of a text, word by word where lines are alike; lines are matched first, so that long texts take no time."""

import re
from collections.abc import Iterator, Sequence
from itertools import takewhile
from typing import Literal, NamedTuple

from om_api.domain.texts.matching import Effort, opcodes

_WORD = re.compile(r"\s+|[^\s\w]|\w+")
_MOST_EQUAL = 2_000_000  # pairs of equal lines, and of equal words, that are looked at
_BLANK = " "  # between words: no place where two lines begin to be the same
_LIKE = {"same": "{}", "gone": "[-{}-]", "new": "{{+{}+}}"}
_MARKS = {"same": "  ", "gone": "- ", "new": "+ "}
_MOST_PAIRS = 250_000  # of changed lines that are compared
_MOST_LOOKED_UP = 2_000_000  # words of them


class Change(NamedTuple):
    """A stretch of text that is in both, was taken out, or was put in."""

    what: Literal["same", "gone", "new"]
    text: str


def word_diff(before: str, now: str) -> list[Change]:
    """The changes from one text to another, in reading order; what is in both and what is new make up the other one."""
    return list(_joined(_changes(before.splitlines(keepends=True), now.splitlines(keepends=True))))


def _changes(before: Sequence[str], now: Sequence[str]) -> Iterator[Change]:
    """What begins and ends both is the same; of what lies between, lines are held against each other if they are not too many."""
    first = _alike(before, now)
    last = _alike(before[first:][::-1], now[first:][::-1])
    yield Change("same", "".join(now[:first]))
    yield from _between(
        before[first : len(before) - last], now[first : len(now) - last], Effort(_MOST_EQUAL), Effort(_MOST_LOOKED_UP)
    )
    yield Change("same", "".join(now[len(now) - last :]))


def _alike(one: Sequence[str], other: Sequence[str]) -> int:
    """With how many equal lines both begin."""
    return sum(1 for _ in takewhile(lambda both: both[0] == both[1], zip(one, other, strict=False)))


def _between(before: Sequence[str], now: Sequence[str], effort: Effort, looks: Effort) -> Iterator[Change]:
    if len(before) * len(now) > _MOST_PAIRS:
        yield from (Change("gone", "".join(before)), Change("new", "".join(now)))
        return
    for tag, a, b, c, d in opcodes(before, now, effort):
        if tag == "replace":
            yield from _of_lines(before[a:b], now[c:d], effort, looks)
        elif tag == "equal":
            yield Change("same", "".join(now[c:d]))
        else:
            yield from (Change("gone", "".join(before[a:b])), Change("new", "".join(now[c:d])))


def _of_lines(before: Sequence[str], now: Sequence[str], effort: Effort, looks: Effort) -> Iterator[Change]:
    """Lines that are alike word by word, all others whole: word by word, what has nothing in common cannot be read."""
    at, new = 0, ""
    words = [_said(line) for line in before]
    for line in now:
        said = _said(line)
        like = next((n for n in range(at, len(words)) if _are_alike(words[n], said, looks)), None)
        if like is None:
            new += line
            continue
        yield from (
            Change("gone", "".join(before[at:like])),
            Change("new", new),
            *_of_words(before[like], line, effort),
        )
        at, new = like + 1, ""
    yield from (Change("gone", "".join(before[at:])), Change("new", new))


def _said(line: str) -> set[str]:
    return set(re.findall(r"\w+", line))


def _are_alike(one: set[str], other: set[str], looks: Effort) -> bool:
    looks.left -= min(len(one), len(other))
    return looks.left >= 0 and 2 * len(one & other) > max(len(one), len(other))


def _of_words(before: str, now: str, effort: Effort) -> Iterator[Change]:
    old, new = _WORD.findall(before), _WORD.findall(now)
    for tag, a, b, c, d in opcodes(old, new, effort, is_junk=_BLANK.__eq__):
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


def marked_lines(before: str, now: str) -> list[str]:
    """The lines of both in plain text: what goes in [-brackets-], what comes in {+braces+}, as `git diff --word-diff` writes it.

    Two blanks begin a line that stands in both, a `-` one that goes, a `+` one that comes, a `~` any other that changed. The end
    of a line that is cut in two, or joined with the next, is shown as ↵.
    """
    lines: list[str] = []
    line: list[Change] = []
    for change in word_diff(f"{before}\n", f"{now}\n"):
        *ended, last = change.text.split("\n")
        for text in ended:
            lines.append(_marked([*line, Change(change.what, text)]))
            line = []
        line += [Change(change.what, last)] if last else []
    return lines


def _marked(line: Sequence[Change]) -> str:
    """A line, with its mark; the last of its changes is the one that its end belongs to."""
    *_, end = line
    if all(each.what == end.what for each in line):
        return _MARKS[end.what] + "".join(map(_shown, line))
    broken = "" if end.what == "same" else "↵"
    return "~ " + "".join(map(_shown, (*line[:-1], end._replace(text=end.text + broken))))


def _shown(change: Change) -> str:
    return _LIKE[change.what].format(change.text) if change.text else ""

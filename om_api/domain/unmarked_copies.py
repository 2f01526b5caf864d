"""What a version that left no marks moved: it gave each thread a copy of what was common, and took each copy back."""

from collections.abc import Mapping, Sequence
from itertools import takewhile
from typing import NamedTuple

from om_api.domain.thread_sections import runs
from om_api.domain.values import Generation

_DATE = "Date:"


class Beginning(NamedTuple):
    """What several threads' texts begin with, and the rest of each that has more."""

    common: Sequence[str]
    rests: dict[str, Sequence[str]]


def is_unmarked(generation: Generation) -> bool:
    """Whether such a version put a text together."""
    moved = generation.origin == "restore" and generation.restores is None
    return moved and bool(generation.text.strip()) and not generation.pieces


def copies(pool: Generation) -> dict[str, Sequence[str]]:
    """The sections of a pool's text that such a version put together, if it is made of nothing else."""
    found = list(runs(pool.text.split("\n"))) if is_unmarked(pool) else []
    sections = dict(found)
    return sections if len(sections) == len(found) and "" not in sections else {}


def shared(texts: Mapping[str, Sequence[str]]) -> Beginning | None:
    """What all of several texts begin with; None where that says nothing.

    What stood outside of sections was written first. Where no text ends with it nobody knows its end: what may be the
    beginning of equal sections keeps the date that it stands under.
    """
    first = next(iter(texts.values()), ())
    n = sum(1 for _ in takewhile(lambda row: len(set(row)) == 1, zip(*texts.values(), strict=False)))
    known = any(len(lines) == n for lines in texts.values())
    while n and not known and not says(first[n - 1]):
        n -= 1
    if len(texts) <= 1 or not any(map(says, first[:n])):
        return None
    dates = [] if known else [line for line in first[:n] if line.startswith(_DATE)][-1:]
    rests = {thread: lines[n:] for thread, lines in texts.items() if len(lines) > n}
    dated = {thread: rest if rest[0].startswith(_DATE) else [*dates, *rest] for thread, rest in rests.items()}
    return Beginning(first[:n], dated)


def says(line: str) -> bool:
    """Whether a line says anything but a date."""
    return bool(line.strip()) and not line.startswith(_DATE)


def told_often(pool: Generation) -> str:
    """A line that a pool's text tells once for each thread, since it was moved there and back; "" if it tells none so.

    Threads may well have noted the same: it must be the greater part of what one of them has.
    """
    texts = copies(pool)
    found = shared(texts)
    if found is None or 2 * len(found.common) <= min(map(len, texts.values())):
        return ""
    return next(filter(says, found.common))

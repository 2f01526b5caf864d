"""The words of many segments in one table, for who asks them again and again: one look for a word instead of one in each."""

from array import array
from collections import defaultdict
from collections.abc import Iterable, Mapping
from itertools import islice
from typing import Final

from om_api.recall.segment import Segment

_LINES: Final = 32  # bits of a line's number
_LINE: Final = (1 << _LINES) - 1


class Vocabulary:
    """Knows of each term in which segments it stands, and on which line of their terms.

    Taking one in takes longer than one question does in it, so it is for those who have asked before.
    """

    def __init__(self) -> None:
        self._segments: list[Segment] = []
        self._taken: set[int] = set()
        self._where: dict[str, array[int]] = defaultdict(lambda: array("Q"))

    @property
    def size(self) -> int:
        """How many segments were taken in."""
        return len(self._segments)

    def take(self, segments: Iterable[Segment], most: int) -> None:
        """Take in those segments that are new, up to so many of them."""
        where = self._where
        for segment in islice((each for each in segments if id(each) not in self._taken), most):
            self._taken.add(id(segment))  # it is held, so no other gets its identity
            first = len(self._segments) << _LINES
            self._segments.append(segment)
            for at, term in enumerate(segment.terms(), first):
                where[term].append(at)

    def holds(self, source: object) -> bool:
        """Whether a source was taken in."""
        return id(source) in self._taken

    def lines(self, terms: Iterable[str]) -> Mapping[int, Mapping[str, int]]:
        """By the identity of each segment that has any of the terms: on which of its lines each of them stands."""
        found: dict[int, dict[str, int]] = defaultdict(dict)
        for term in terms:
            for at in self._where.get(term, ()):
                found[id(self._segments[at >> _LINES])][term] = at & _LINE
        return found

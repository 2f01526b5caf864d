"""The words of many segments in tables, for who asks them again and again: one look for a word instead of one in each."""

from array import array
from bisect import bisect_left, bisect_right
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Sequence
from threading import Lock
from typing import Final

from om_api.recall.analysis import is_anywhere
from om_api.recall.segment import Postings, Segment

_Range = tuple[int, int]  # the first place of some, and the one behind their last
_END: Final = 1 << 32  # behind every place: they are of 32 bits
_FEW: Final = 3  # where less than the third part of a table is searched, its segments are faster one by one


class Vocabulary:
    """Knows of each term where it stands in all segments that were taken in: a table for each set of languages met in some.

    `length`: how many terms their messages have together. Taking a segment in takes longer than one question does in it, so
    it is for those who have asked before.
    """

    def __init__(self) -> None:
        self.length = 0
        self._tables: dict[frozenset[str], _Table] = {}
        self._taken: dict[int, tuple[_Table, int]] = {}  # by identity: they are held, so no other gets it
        self._taking = Lock()

    @property
    def words(self) -> int:
        """How many terms are in its tables, each counted once in a table."""
        return sum(len(table.where) for table in list(self._tables.values()))

    def take(self, segments: Iterable[Segment], most: int) -> None:
        """Take in segments that are new until they have so many terms; who searches meanwhile sees each whole or not.

        Nothing is done while another thread takes some in.
        """
        if self._taking.acquire(blocking=False):
            try:
                self._take(segments, self.length + most)
            finally:
                self._taking.release()

    def _take(self, segments: Iterable[Segment], end: int) -> None:
        for segment in segments:
            if self.length >= end:
                return
            if id(segment) not in self._taken:
                table = self._tables.setdefault(segment.languages, _Table())
                self._taken[id(segment)] = table, table.add(segment)
                self.length += segment.length

    def views(self, sources: Sequence[object]) -> tuple[list["TableView"], list[int]]:
        """The tables as far as some sources are in them, and the numbers of those that are to be searched by themselves."""
        numbers: dict[_Table, dict[int, int]] = defaultdict(dict)
        others: list[int] = []
        for number, source in enumerate(sources):
            if at := self._taken.get(id(source)):
                numbers[at[0]][at[1]] = number
            else:
                others.append(number)
        views: list[TableView] = []
        for table, found in numbers.items():
            if _FEW * len(found) < len(table.starts):
                others += found.values()
            else:
                views.append(TableView(table, found))
        return views, others


class _Table:
    """The postings of segments one behind the other, a place apart, so that no message stands beside one of the next."""

    def __init__(self) -> None:
        self.segments: list[Segment] = []
        self.starts: list[int] = []
        self.where: dict[str, array[int]] = defaultdict(lambda: array("I"))
        self.times: dict[str, dict[int, int]] = defaultdict(dict)  # how often, where it is more than once
        self.lengths: array[int] = array("I")

    def add(self, segment: Segment) -> int:
        """Its number among the segments. Where this is interrupted, its room stays, and what stands there is never searched."""
        first, where = len(self.lengths), self.where
        self.segments.append(segment)
        self.starts.append(first)
        self.lengths.extend([*segment.lengths(), 0])
        number = len(self.starts) - 1
        for term, places in segment.inverted():
            if len(places) == 1:
                where[term].append(first + places[0])
            else:
                self._add(term, Counter([first + place for place in places]))
        segment.release()
        return number

    def _add(self, term: str, places: Counter[int]) -> None:
        self.where[term].extend(places)
        if len(places) < places.total():
            self.times[term] |= {place: times for place, times in places.items() if times > 1}


class TableView:
    """Those segments of a table that are searched; a place counts from the table's first message.

    `numbers` tell of each of these segments which of the searched sources it is. What is taken in meanwhile is not in it.
    """

    def __init__(self, table: _Table, numbers: dict[int, int]) -> None:
        self._table, self._numbers = table, numbers
        self._left_out = tuple(_left_out(table, numbers))

    @property
    def languages(self) -> frozenset[str]:
        """Those met in each segment."""
        return self._table.segments[0].languages

    def postings(self, terms: Iterable[str]) -> list[Postings]:
        """Where each term stands, and how often; empty if nowhere."""
        return [self._anywhere(term[1:]) if is_anywhere(term) else self._stands(term) for term in terms]

    def _stands(self, term: str) -> Postings:
        places = self._table.where[term][:] if term in self._table.where else array("I")
        for first, end in self._left_out:
            if places and first <= places[-1]:
                del places[bisect_left(places, first) : bisect_left(places, end)]
        found = dict.fromkeys(places, 1)
        if found and (times := self._table.times.get(term)):
            found |= {place: many for place, many in times.copy().items() if place in found}
        return found

    def _anywhere(self, part: str) -> Postings:
        found: dict[int, int] = {}
        for term in [term for term in list(self._table.where) if part in term]:
            for place, times in self._stands(term).items():
                found[place] = found.get(place, 0) + times
        return found

    def lengths(self) -> Sequence[int]:
        """How many terms each message has."""
        return self._table.lengths

    def located(self, place: int) -> tuple[int, int]:
        """The number of the searched source that a place is in, and the place there."""
        at = bisect_right(self._table.starts, place) - 1
        return self._numbers[at], place - self._table.starts[at]

    def parts(self) -> Iterator[tuple[int, int]]:
        """The number of each searched source, and its first place here."""
        return ((number, self._table.starts[at]) for at, number in self._numbers.items())


def _left_out(table: _Table, numbers: dict[int, int]) -> Iterator[_Range]:
    """Where segments stand that are not searched: those between two that are, and all behind the last of these."""
    behind = 0
    for at in sorted(numbers):
        if behind < table.starts[at]:
            yield behind, table.starts[at]
        behind = table.starts[at] + table.segments[at].size + 1
    yield behind, _END

"""The words of many segments in tables, for who asks them again and again: one look for a word instead of one in each."""

from array import array
from bisect import bisect_left, bisect_right
from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from itertools import islice
from threading import Lock

from om_api.recall.analysis import is_anywhere
from om_api.recall.segment import Postings, Segment

_Range = tuple[int, int]  # the first place of some, and the one behind their last
_END = 1 << 32


class Vocabulary:
    """Knows of each term where it stands in all segments that were taken in: a table for each set of languages met in some.

    Taking one in takes longer than one question does in it, so it is for those who have asked before.
    """

    def __init__(self) -> None:
        self._tables: dict[frozenset[str], _Table] = {}
        self._taken: dict[int, tuple[_Table, int]] = {}  # by identity: they are held, so no other gets it
        self._taking = Lock()

    @property
    def size(self) -> int:
        """How many segments were taken in."""
        return len(self._taken)

    def take(self, segments: Iterable[Segment], most: int) -> None:
        """Take in those segments that are new, up to so many of them; who searches meanwhile sees a segment whole or not."""
        with self._taking:
            for segment in islice((each for each in segments if id(each) not in self._taken), most):
                table = self._tables.setdefault(segment.languages, _Table())
                self._taken[id(segment)] = table, table.take(segment)

    def views(self, sources: Sequence[object]) -> tuple[list["TableView"], list[int]]:
        """Those of some sources that were taken in, as views of the tables, and the numbers of the others among them."""
        numbers: dict[_Table, dict[int, int]] = defaultdict(dict)
        others: list[int] = []
        for number, source in enumerate(sources):
            if at := self._taken.get(id(source)):
                numbers[at[0]][at[1]] = number
            else:
                others.append(number)
        return [TableView(table, found) for table, found in numbers.items()], others


class _Table:
    """The postings of segments one behind the other, a place apart, so that no message stands beside one of the next."""

    def __init__(self) -> None:
        self.segments: list[Segment] = []
        self.starts: list[int] = []
        self.where: dict[str, array[int]] = defaultdict(lambda: array("I"))
        self.again: dict[str, dict[int, int]] = defaultdict(dict)  # how often, where more than once
        self.lengths: array[int] = array("I")

    def take(self, segment: Segment) -> int:
        """Its number among the segments."""
        first, where = len(self.lengths), self.where
        for term, places in segment.inverted():
            if len(places) == 1:
                where[term].append(first + places[0])
            else:
                self._take(term, [first + place for place in places])
        self.segments.append(segment)
        self.starts.append(first)
        self.lengths.extend([*segment.lengths(), 0])
        return len(self.starts) - 1

    def _take(self, term: str, places: Sequence[int]) -> None:
        once = dict.fromkeys(places)
        self.where[term].extend(once)
        if len(once) < len(places):
            self.again[term] |= {place: times for place in once if (times := places.count(place)) > 1}


class TableView:
    """Those segments of a table that are searched; a place counts from the table's first message.

    `numbers` tell of each of these segments which of the searched sources it is. What is taken in meanwhile is not in it.
    """

    def __init__(self, table: _Table, numbers: dict[int, int]) -> None:
        self._table, self._numbers = table, numbers
        segments = [table.segments[at] for at in numbers]
        self.languages = segments[0].languages
        self.size = sum(segment.size for segment in segments)
        self.length = sum(segment.length for segment in segments)
        self._without = tuple(self._left_out())

    def _left_out(self) -> Iterator[_Range]:
        """Where segments stand that are not searched."""
        starts, segments, last = self._table.starts, self._table.segments, max(self._numbers)
        for at in sorted({*range(last)} - self._numbers.keys()):
            yield starts[at], starts[at] + segments[at].size
        yield starts[last] + segments[last].size, _END

    def postings(self, terms: Iterable[str]) -> list[Postings]:
        """Where each term stands, and how often; empty if nowhere."""
        return [self._anywhere(term[1:]) if is_anywhere(term) else self._stands(term) for term in terms]

    def _stands(self, term: str) -> Postings:
        if term not in self._table.where:
            return {}
        places = self._table.where[term][:]
        for first, end in self._without:
            if first <= places[-1]:
                del places[bisect_left(places, first) : bisect_left(places, end)]
                if not places:
                    return {}
        found = dict.fromkeys(places, 1)
        if again := self._table.again.get(term):
            found |= {place: times for place, times in again.copy().items() if place in found}
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

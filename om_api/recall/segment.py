"""A segment: the messages of one chunk as they are searched, in one compact value that never changes."""

import zlib
from array import array
from binascii import crc32
from bisect import bisect_right
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from functools import cached_property
from itertools import accumulate, chain, pairwise, product, repeat
from operator import sub
from typing import Final, NamedTuple

import msgspec

from om_api.recall.analysis import AUTO, VERSION, is_anywhere, terms_of
from om_api.recall.segment_format import (
    PackedMessages,
    PackedSegment,
    SegmentError,
    from_value,
    is_foreign,
    item_code,
    to_array,
    to_bytes,
    to_value,
    version_of,
)
from om_api.recall.stemming import LANGUAGES

_SHORT: Final = 150  # terms of a message
_MOST: Final = 15  # times a term is counted in a longer one: what is said more often is not found better
_LEVEL: Final = 6
_STRIDE: Final = 1024  # bytes of terms between two marks
Postings = Mapping[int, int]  # place of a message -> how often it has the term
_NONE: Postings = {}
_CODES: Final = frozenset(map("".join, product("BHI", repeat=2)))


class Findable(NamedTuple):
    """A message as it is indexed, at Unix ms."""

    id: str
    role: str
    at: int
    text: str


def check_of(name: str) -> int:
    """Four bytes of an id, by which a found message is known to be the one that was indexed."""
    return crc32(name.encode())


def encode(thread: str, messages: Sequence[Findable], language: str = AUTO) -> bytes:
    """The segment of a chunk's messages, which stand in the order of the chunk; equal messages make equal bytes."""
    read = [terms_of(message.text, language) for message in messages]
    lists: dict[str, list[int]] = defaultdict(list)
    for place, (_, terms) in enumerate(read):
        for term in _bounded(terms):
            lists[term].append(place)
    lengths = [len(terms) for _, terms in read]
    codes, lines, postings = _inverted(lists, len(messages))
    packed = PackedSegment(
        len(messages),
        sum(lengths),
        thread,
        tuple(sorted({language for language, _ in read})),
        codes,
        lines,
        postings,
        _described(messages, lengths),
    )
    return to_value(packed, VERSION)


def _bounded(terms: list[str]) -> Iterable[str]:
    """The terms, each at most so many times."""
    if len(terms) <= _SHORT:
        return terms
    return chain.from_iterable(repeat(term, min(times, _MOST)) for term, times in Counter(terms).items())


def _inverted(lists: Mapping[str, list[int]], size: int) -> tuple[str, bytes, bytes]:
    """The codes of the arrays' items, the terms and their postings, compressed."""
    order = sorted(lists)
    counts = [len(lists[term]) for term in order]
    steps: list[int] = []
    for places in map(lists.__getitem__, order):
        steps += places if len(places) == 1 else map(sub, places, [0, *places])
    codes = item_code(max(counts, default=0)) + item_code(size)
    postings = to_bytes(array(codes[0], counts)) + to_bytes(array(codes[1], steps))
    terms = "\n".join(["", *order, ""]).encode()
    return codes, zlib.compress(terms, _LEVEL), zlib.compress(postings, _LEVEL)


def _described(messages: Sequence[Findable], lengths: list[int]) -> bytes:
    times = [message.at for message in messages]
    roles = {role: place for place, role in enumerate(dict.fromkeys(message.role for message in messages))}
    described = PackedMessages(
        first=times[0] if times else 0,
        steps=tuple(after - before for before, after in pairwise(times)),
        roles=tuple(roles),
        role=bytes(roles[message.role] for message in messages),
        lengths=tuple(lengths),
        checks=to_bytes(array("I", (check_of(message.id) for message in messages))),
    )
    return zlib.compress(msgspec.msgpack.encode(described), _LEVEL)


def is_broken(data: bytes) -> bool:
    """Whether a value is no segment at all, or one of this version that cannot be read."""
    if is_foreign(data):
        return False
    with suppress(SegmentError):
        if version_of(data) == VERSION:
            Segment(data)
        return False
    return True


def is_current(head: bytes) -> bool:
    """Whether a value, of which this is the beginning, is a segment of this version."""
    with suppress(SegmentError):
        return version_of(head) == VERSION
    return False


class Segment:
    """What `encode` wrote, decoded and checked at once; `release` lets its words go.

    `size`: how many messages; `length`: how many terms they have together; `languages`: those met. Raises SegmentError.
    """

    def __init__(self, data: bytes) -> None:
        if (version := version_of(data)) != VERSION:
            raise SegmentError(f"the segment is of version {version}, this reads {VERSION}: make it anew")
        self._packed = from_value(data)
        self.thread, self.size, self.length = self._packed.thread, self._packed.size, self._packed.length
        self.languages = frozenset(self._packed.languages)
        try:
            whole = self._is_whole()
        except (zlib.error, msgspec.MsgspecError, ValueError) as error:
            raise SegmentError(f"the segment is broken: {error}: make it anew") from None
        if not whole:
            raise SegmentError("the segment is broken, its parts do not fit: make it anew")

    def _is_whole(self) -> bool:
        """Whether its parts hold as much as they say; most questions decode them all anyway."""
        described, terms = self._messages, self._terms.decode()
        if {len(described.role), len(described.lengths), len(self._checks)} != {self.size}:
            return False
        if not (terms[:1] == terms[-1:] == "\n" and self._packed.codes in _CODES):
            return False
        counts, steps = self._arrays
        return (
            (len(counts), len(steps)) == (self._marks[2][-1], self._sums[-1])
            and len(described.steps) == max(self.size - 1, 0)
            and max(described.role, default=-1) < len(described.roles)
            and min(described.lengths, default=0) >= 0
            and self.languages.issubset(LANGUAGES)
        )

    def postings(self, terms: Iterable[str]) -> list[Postings]:
        """Where each term stands, and how often; empty if nowhere."""
        return [self._anywhere(term[1:]) if is_anywhere(term) else self._stands(term) for term in terms]

    def terms(self) -> list[str]:
        """All its terms, in order."""
        return self.lines().split("\n")[:-1]

    def lines(self) -> str:
        """The same as one text, each on a line."""
        return self._terms.decode()[1:]

    def inverted(self) -> Iterator[tuple[str, Sequence[int]]]:
        """Each term with the places where it stands, in order: one as often as it is said there."""
        counts, steps = self._arrays
        at = 0
        for term, count in zip(self.terms(), counts, strict=True):
            places = steps[at : at + count]
            yield term, places if count == 1 else [*accumulate(places)]
            at += count

    def release(self) -> None:
        """Let go of the words that were decoded: they are decoded again where somebody asks."""
        for name in ("_terms", "_arrays", "_marks", "_sums"):
            self.__dict__.pop(name, None)

    def times(self) -> Sequence[int]:
        """When each message was said, in Unix ms."""
        return self._times

    def at(self, place: int) -> int:
        """When a message was said, in Unix ms."""
        return self._times[place]

    def role(self, place: int) -> str:
        """Who said it."""
        return self._messages.roles[self._messages.role[place]]

    def lengths(self) -> Sequence[int]:
        """How many terms each message has."""
        return self._messages.lengths

    def check(self, place: int) -> int:
        """The check of its id, see `check_of`."""
        return self._checks[place]

    def _stands(self, term: str) -> Postings:
        """A line of the terms is looked for between two marks only."""
        sought = b"\n" + term.encode() + b"\n"
        heads, starts, lines = self._marks
        mark = max(bisect_right(heads, sought) - 1, 0)
        at = self._terms.find(sought, starts[mark], starts[mark + 1] + 1)
        if at < 0:
            return _NONE
        return self._of_line(lines[mark] + self._terms.count(b"\n", starts[mark], at), lines[mark], self._sums[mark])

    def _of_line(self, line: int, mark: int = 0, postings: int = 0) -> Postings:
        """The postings of a line, counted from a line before it that has so many before itself."""
        counts, steps = self._arrays
        start = postings + sum(counts[mark:line])
        if counts[line] == 1:
            return {steps[start]: 1}
        times: dict[int, int] = {}
        for place in accumulate(steps[start : start + counts[line]]):
            times[place] = times.get(place, 0) + 1
        return times

    def _anywhere(self, part: str) -> Postings:
        found: dict[int, int] = {}
        if part.encode() not in self._terms:
            return _NONE
        for line, term in enumerate(self.terms()):
            if part in term:
                for place, times in self._of_line(line).items():
                    found[place] = found.get(place, 0) + times
        return found

    @cached_property
    def _marks(self) -> tuple[list[bytes], list[int], list[int]]:
        """A line every so many bytes, where it begins, and its number; and where the last one ends."""
        terms = self._terms
        last = len(terms) - 1
        starts, lines = [0], [0]
        while starts[-1] < last:
            end = terms.find(b"\n", min(starts[-1] + _STRIDE, last))
            lines.append(lines[-1] + terms.count(b"\n", starts[-1], end))
            starts.append(end)
        heads = [terms[start : terms.find(b"\n", start + 1) + 1] for start in starts[:-1]]
        return heads, [*starts, last], lines

    @cached_property
    def _sums(self) -> list[int]:
        """How many postings stand before each mark."""
        counts, _ = self._arrays
        lines = self._marks[2]
        return list(accumulate((sum(counts[one:other]) for one, other in pairwise(lines)), initial=0))

    @cached_property
    def _terms(self) -> bytes:
        return zlib.decompress(self._packed.terms)

    @cached_property
    def _arrays(self) -> tuple["array[int]", "array[int]"]:
        counts, steps = self._packed.codes[:1], self._packed.codes[1:]
        data = zlib.decompress(self._packed.postings)
        end = (self._terms.count(b"\n") - 1) * array(counts).itemsize
        return to_array(counts, data[:end]), to_array(steps, data[end:])

    @cached_property
    def _messages(self) -> PackedMessages:
        return msgspec.msgpack.decode(zlib.decompress(self._packed.messages), type=PackedMessages)

    @cached_property
    def _times(self) -> list[int]:
        return list(accumulate(self._messages.steps, initial=self._messages.first))[: self.size]

    @cached_property
    def _checks(self) -> "array[int]":
        return to_array("I", self._messages.checks)

"""A segment: the messages of one chunk as they are searched, in one compact value that never changes.

MAGIC, the version, then a message pack of: how many messages and terms they have, thread, languages, the codes of
two arrays' items, and three compressed parts: the terms in order, each on a line; for each term how many postings it has,
and these: places of messages, each as the step from the one before, a place said again for each time that the message
has the term; and of each message its time, role, length and check. Arrays are little-endian.
"""

import sys
import zlib
from array import array
from binascii import crc32
from bisect import bisect_right
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from functools import cached_property
from itertools import accumulate, chain, pairwise
from operator import sub
from struct import Struct
from typing import Final, NamedTuple

import msgspec

from om_api.domain.errors import OMError
from om_api.recall.analysis import AUTO, VERSION, analyse, is_anywhere

MAGIC: Final = b"omr"
_FORMAT: Final = 1
_HEAD: Final = Struct("<3sBHI")  # magic, format, version of the analysis, check of all that follows
_MOST: Final = 15  # times a term is counted in one message: what is said more often is not found better
_LEVEL: Final = 6
_STRIDE: Final = 256  # bytes of terms between two marks
_KEPT: Final = 256  # terms of which it is known where they stand
Postings = Mapping[int, int]  # place of a message -> how often it has the term
_NONE: Postings = {}


class SegmentError(OMError, ValueError):
    """A value that is no segment, is broken, or is of another version; it is made anew from its messages."""


class Findable(NamedTuple):
    """A message as it is indexed, at Unix ms."""

    id: str
    role: str
    at: int
    text: str


class _Packed(msgspec.Struct, array_like=True):
    size: int
    length: int
    thread: str
    languages: tuple[str, ...]
    codes: str
    terms: bytes
    postings: bytes
    messages: bytes


class _Messages(msgspec.Struct, array_like=True):
    first: int
    steps: tuple[int, ...]
    roles: tuple[str, ...]
    role: bytes
    lengths: tuple[int, ...]
    checks: bytes


def check_of(name: str) -> int:
    """Four bytes of an id, by which a found message is known to be the one that was indexed."""
    return crc32(name.encode())


def encode(thread: str, messages: Sequence[Findable], language: str = AUTO) -> bytes:
    """The segment of a chunk's messages, which stand in the order of the chunk; equal messages make equal bytes."""
    read = [analyse(message.text, language) for message in messages]
    lists: dict[str, list[int]] = defaultdict(list)
    for place, analysis in enumerate(read):
        for term, times in analysis.terms.items():
            if times == 1:
                lists[term].append(place)
            else:
                lists[term].extend([place] * min(times, _MOST))
    lengths = [analysis.length for analysis in read]
    codes, terms, postings = _inverted(lists, len(messages))
    packed = _Packed(
        len(messages),
        sum(lengths),
        thread,
        tuple(sorted({analysis.language for analysis in read})),
        codes,
        terms,
        postings,
        _described(messages, lengths),
    )
    data = msgspec.msgpack.encode(packed)
    return _HEAD.pack(MAGIC, _FORMAT, VERSION, crc32(data)) + data


def _inverted(lists: Mapping[str, list[int]], size: int) -> tuple[str, bytes, bytes]:
    """The codes of the arrays' items, the terms and their postings, compressed."""
    order = sorted(lists)
    counts = [len(lists[term]) for term in order]
    places = list(chain.from_iterable(map(lists.__getitem__, order)))
    steps = list(map(sub, places, [0, *places]))
    for start in accumulate(counts[:-1], initial=0) if counts else ():  # each term's begin anew
        steps[start] = places[start]
    codes = _code(max(counts, default=0)) + _code(size)
    postings = _bytes(array(codes[0], counts)) + _bytes(array(codes[1], steps))
    terms = "\n".join(["", *order, ""]).encode()
    return codes, zlib.compress(terms, _LEVEL), zlib.compress(postings, _LEVEL)


def _described(messages: Sequence[Findable], lengths: list[int]) -> bytes:
    times = [message.at for message in messages]
    roles = {role: place for place, role in enumerate(dict.fromkeys(message.role for message in messages))}
    described = _Messages(
        first=times[0] if times else 0,
        steps=tuple(after - before for before, after in pairwise(times)),
        roles=tuple(roles),
        role=bytes(roles[message.role] for message in messages),
        lengths=tuple(lengths),
        checks=_bytes(array("I", (check_of(message.id) for message in messages))),
    )
    return zlib.compress(msgspec.msgpack.encode(described), _LEVEL)


def _code(most: int) -> str:
    """The smallest items of an array that hold a number."""
    return next(code for code, bits in (("B", 8), ("H", 16), ("I", 32)) if most < 1 << bits)


def _bytes(numbers: "array[int]") -> bytes:
    if sys.byteorder == "big":
        numbers.byteswap()
    return numbers.tobytes()


def _array(code: str, data: bytes) -> "array[int]":
    numbers = array(code, data)
    if sys.byteorder == "big":
        numbers.byteswap()
    return numbers


class Segment:
    """What `encode` wrote, decoded as far as it is asked; a reader keeps it, and what it found stays known.

    `size`: how many messages; `length`: how many terms they have together; `languages`: those met. Raises SegmentError.
    """

    def __init__(self, data: bytes) -> None:
        if self.version_of(data) != VERSION:
            raise SegmentError(f"the segment is of version {self.version_of(data)}, this reads {VERSION}: make it anew")
        self._packed = _unpacked(data)
        self.thread, self.size, self.length = self._packed.thread, self._packed.size, self._packed.length
        self.languages = frozenset(self._packed.languages)
        self._found: dict[str, Postings] = {}

    @staticmethod
    def version_of(data: bytes) -> int:
        """The version of the analysis that a segment was made with; raises SegmentError for what is none."""
        if len(data) < _HEAD.size or data[:3] != MAGIC or data[3] != _FORMAT:
            raise SegmentError("this is no segment, or of a format that this cannot read: make it anew")
        return int(_HEAD.unpack_from(data)[2])

    def postings(self, terms: Iterable[str]) -> list[Postings]:
        """Where each term stands, and how often; empty if nowhere."""
        found = self._found
        return [found[term] if term in found else self._look(term) for term in terms]

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

    def _look(self, term: str) -> Postings:
        if len(self._found) >= _KEPT:
            self._found = {}
        found = self._found[term] = self._anywhere(term[1:]) if is_anywhere(term) else self._stands(term)
        return found

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
        for line, term in enumerate(self._terms.decode().split("\n")[1:-1]):
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
        return _array(counts, data[:end]), _array(steps, data[end:])

    @cached_property
    def _messages(self) -> _Messages:
        return msgspec.msgpack.decode(zlib.decompress(self._packed.messages), type=_Messages)

    @cached_property
    def _times(self) -> list[int]:
        return list(accumulate(self._messages.steps, initial=self._messages.first))

    @cached_property
    def _checks(self) -> "array[int]":
        return _array("I", self._messages.checks)


def _unpacked(data: bytes) -> _Packed:
    body = memoryview(data)[_HEAD.size :]
    if crc32(body) != _HEAD.unpack_from(data)[3]:
        raise SegmentError("the segment is broken: make it anew")
    return msgspec.msgpack.decode(body, type=_Packed)

"""The format of a segment's value.

A head, then a message pack whose parts are compressed: the terms in order, each on a line; for each term how many
postings it has, and these: places of messages, each as the step from the one before, a place said again for each time
that the message has the term; and of each message its time, role, length and check. Arrays are little-endian.
"""

import sys
from array import array
from binascii import crc32
from struct import Struct
from typing import Final

import msgspec

from om_api.domain.errors import OMError

MAGIC: Final = b"omr"
_FORMAT: Final = 1
_HEAD: Final = Struct("<3sBHI")  # magic, format, version of the analysis, check of all that follows


class SegmentError(OMError, ValueError):
    """A value that is no segment, is broken, or is of another version; it is made anew from its messages."""


class PackedSegment(msgspec.Struct, array_like=True):
    """How many messages and terms there are, whose, in which languages; the codes of two arrays' items; three parts."""

    size: int
    length: int
    thread: str
    languages: tuple[str, ...]
    codes: str
    terms: bytes
    postings: bytes
    messages: bytes


class PackedMessages(msgspec.Struct, array_like=True):
    """Of each message its time, as steps from the first, its role by number, its length and its check."""

    first: int
    steps: tuple[int, ...]
    roles: tuple[str, ...]
    role: bytes
    lengths: tuple[int, ...]
    checks: bytes


def to_value(packed: PackedSegment, version: int) -> bytes:
    """The value of a segment whose terms are of a version of the analysis."""
    data = msgspec.msgpack.encode(packed)
    return _HEAD.pack(MAGIC, _FORMAT, version, crc32(data)) + data


def version_of(data: bytes) -> int:
    """The version of the analysis that a value was made with; raises SegmentError for what is no segment."""
    if len(data) < _HEAD.size or data[: len(MAGIC)] != MAGIC or data[len(MAGIC)] != _FORMAT:
        raise SegmentError("this is no segment, or of a format that this cannot read: make it anew")
    return int(_HEAD.unpack_from(data)[2])


def is_foreign(data: bytes) -> bool:
    """Whether a value says that it is a segment of another format."""
    return data.startswith(MAGIC) and data[len(MAGIC) : len(MAGIC) + 1] not in {b"", bytes([_FORMAT])}


def from_value(data: bytes) -> PackedSegment:
    """What `to_value` wrote; raises SegmentError where bytes were changed since."""
    body = memoryview(data)[_HEAD.size :]
    if version_of(data) and crc32(body) != _HEAD.unpack_from(data)[3]:
        raise SegmentError("the segment is broken: make it anew")
    try:
        return msgspec.msgpack.decode(body, type=PackedSegment)
    except msgspec.MsgspecError as error:
        raise SegmentError(f"the segment is broken: {error}: make it anew") from None


def item_code(most: int) -> str:
    """The smallest items of an array that hold a number."""
    return next(code for code, bits in (("B", 8), ("H", 16), ("I", 32)) if most < 1 << bits)


def to_bytes(numbers: "array[int]") -> bytes:
    """An array as little-endian bytes."""
    if sys.byteorder == "big":
        numbers.byteswap()
    return numbers.tobytes()


def to_array(code: str, data: bytes) -> "array[int]":
    """The array of little-endian bytes."""
    numbers = array(code, data)
    if sys.byteorder == "big":
        numbers.byteswap()
    return numbers

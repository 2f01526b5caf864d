"""The segments of chunks as the store keeps them, the messages of those that have none, and single messages by their place."""

from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from functools import partial
from typing import Any, NamedTuple, TypeAlias

from om_api.domain.messages import Message
from om_api.recall.segment import Segment
from om_api.recall.segment_format import SegmentError
from om_api.store.driver.replies import Pair, scored
from om_api.store.driver.steps import Batch, Steps, Words
from om_api.store.driver.tolerant_read import of_each
from om_api.store.index.listing import MemoryPlace
from om_api.store.memory.decoding import message_of
from om_api.store.memory.keys import Keys, ResourceKeys

_AT_ONCE = 500  # chunks in one round trip


class Members(NamedTuple):
    """What is kept of a chunk that has no segment of its own: its thread, and its messages as they stand."""

    thread: str
    pairs: list[Pair]


Kept: TypeAlias = Segment | Members  # a segment, or what one would be made of


class Stretch(NamedTuple):
    """Messages of a thread that stand side by side in a chunk ("" is what is raw), from one place to another, both included."""

    thread: str
    chunk: str
    first: int
    last: int

    @property
    def size(self) -> int:
        """How many they are."""
        return self.last - self.first + 1


def segments(keys: Keys, resource: str, wanted: Mapping[str, MemoryPlace]) -> Steps[dict[str, Kept]]:
    """The segments of chunks and observations, and the messages of those without; what is gone is left out."""
    of, found, names = keys.of(resource), dict[str, Kept](), list(wanted)
    for start in range(0, len(names), _AT_ONCE):
        some = names[start : start + _AT_ONCE]
        read = yield from of_each(partial(_segments, of), some)
        found |= {name: value for name, value in read.items() if value}
        if without := [name for name in some if name not in found]:
            found |= yield from members(of, {name: wanted[name].thread for name in without})
    return found


def _segments(of: ResourceKeys, names: Sequence[str]) -> Batch[dict[str, Segment | None]]:
    asked = [("GET", of.segment(name)) for name in names]
    return Batch(asked, lambda replies: dict(zip(names, map(_read, replies), strict=True)))


def _read(value: Any) -> Segment | None:
    """A segment; None where there is none, or one that this version cannot read, or of no message: a chunk has some."""
    with suppress(SegmentError):
        segment = Segment(value) if value else None
        return segment if segment and segment.size else None
    return None


def members(of: ResourceKeys, threads: Mapping[str, str]) -> Batch[dict[str, Kept]]:
    """The messages of chunks, sealed or behind an observation, each with its thread; those that have none are left out."""
    asked: list[Words] = []
    for name in threads:
        asked += [
            ("HGET", of.chunk(name), "thread"),
            *(("ZRANGE", key, 0, -1, "WITHSCORES") for key in _sets(of, name)),
        ]
    return Batch(asked, lambda replies: dict(_members(replies, threads)))


def _members(replies: Iterator[Any], threads: Mapping[str, str]) -> Iterator[tuple[str, Kept]]:
    for name, thread in threads.items():
        own, sealed, source = next(replies), next(replies), next(replies)
        if pairs := scored(sealed) or scored(source):
            yield name, Members(own.decode() if own else thread, pairs)


def stretches(keys: Keys, resource: str, wanted: Sequence[Stretch]) -> Batch[list[list[Message | None]]]:
    """The messages of each stretch, wherever its chunk stands; fewer, or none, where it is gone. None for what is no message."""
    of = keys.of(resource)
    places = [_sets(of, each.chunk) if each.chunk else (of.messages(each.thread),) for each in wanted]
    asked = [
        ("ZRANGE", key, each.first, each.last, "WITHSCORES")
        for each, sets in zip(wanted, places, strict=True)
        for key in sets
    ]

    def decode(replies: Iterator[Any]) -> list[list[Message | None]]:
        return [
            [message_of(pair, each.thread, resource) for _ in sets for pair in scored(next(replies))]
            for each, sets in zip(wanted, places, strict=True)
        ]

    return Batch(asked, decode)


def _sets(of: ResourceKeys, chunk: str) -> tuple[str, str]:
    """Where a chunk's messages are: sealed, or behind the observation of its name."""
    return of.sealed(chunk), of.source(chunk)

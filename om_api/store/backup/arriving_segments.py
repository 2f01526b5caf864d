"""The index of what an import brings: a segment for each chunk and observation, made of its messages as they come."""

from collections.abc import Iterator
from typing import NamedTuple

from om_api.recall.segment import encode
from om_api.store.driver.replies import Pair
from om_api.store.index.indexing import findable


class ArrivedSegment(NamedTuple):
    """A segment, the chunk it is of, and until when (Unix ms; 0: for good) its messages are kept."""

    chunk: str
    words: bytes
    until: int


class ArrivingSegments:
    """Takes messages as they come, a chunk's one after the other. Of one that comes in parts none is made: the sweep does it."""

    def __init__(self, resource: str) -> None:
        self._resource = resource
        self._made: dict[str, ArrivedSegment | None] = {}
        self._now: tuple[str, str, int] | None = None
        self._pairs: list[Pair] = []

    def take(self, chunk: str, thread: str, pair: Pair, until: int = 0) -> None:
        """A message of a chunk of a thread."""
        if self._now != (chunk, thread, until):
            self._close()
            self._now = chunk, thread, until
        self._pairs.append(pair)

    def all(self) -> Iterator[ArrivedSegment]:
        """Every segment there is, once all messages came."""
        self._close()
        yield from filter(None, self._made.values())

    def _close(self) -> None:
        """Make the segment of the chunk that came last, its messages in the order of its sorted set."""
        if self._now:
            chunk, thread, until = self._now
            pairs = sorted(self._pairs, key=lambda pair: (pair[1], pair[0]))
            made = ArrivedSegment(chunk, encode(thread, findable(pairs, thread, self._resource)), until)
            self._made[chunk] = None if chunk in self._made else made
        self._now, self._pairs = None, []

"""What this process read last, thread by thread, so that it decodes and renders only what is new."""

from collections.abc import Callable

from om_api.context import Rendering, View
from om_api.domain.caching import LRU, QUARTER
from om_api.domain.snapshot import Snapshot
from om_api.store.memory.composing import ComposedReader
from om_api.store.memory.context_query import NEWEST, Names
from om_api.store.memory.decode_cache import Past

READERS = 4_096
MOST = 96 * 2**20  # bytes of memory, by what `Reader.weight` reckons
_EMPTY = 8_000  # bytes: what a reader takes that has read nothing


class Reader:
    """What was decoded and rendered at the last look at one thread's context, and the names that the next begins with.

    `newest` is how many of its raw messages are read.

    `snapshot` is kept for those who fail open; `read_at` is when the thread was read last (server's Unix ms), 0 = never.
    """

    def __init__(self, count: Callable[[str], int]) -> None:
        self.past = Past()
        self.composed = ComposedReader()
        self.rendering = Rendering(count)
        self.names: Names | None = None
        self.newest = NEWEST
        self.snapshot: Snapshot | None = None
        self.read_at = 0

    def shows_all(self, snapshot: Snapshot, view: View, max_tokens: int | None) -> bool:
        """Whether a context has room for all raw messages that were read, and so may have room for older ones."""
        return self.rendering.context(snapshot, view, snapshot.now, max_tokens).omitted == snapshot.unread

    @property
    def weight(self) -> int:
        """About how many bytes of memory it takes."""
        return _EMPTY + self.past.weight + self.composed.weight


class ReaderCache:
    """The readers of a client, at most so many and so many bytes of them, and one of no more than a `share` of these bytes.

    Threads share it. What is forgotten costs time only; of those who fail open also what an outage's context is made of, so
    that for them one large memory may take all.
    """

    def __init__(
        self, count: Callable[[str], int], readers: int = READERS, most: int = MOST, share: float = QUARTER
    ) -> None:
        self._count = count
        self._readers: LRU[tuple[str, str], Reader] = LRU(readers, most, share)

    def of(self, resource: str, thread: str) -> Reader:
        """The reader of a thread; a new one, not yet remembered, where none is."""
        return self._readers.get((resource, thread)) or Reader(self._count)

    def keep(self, resource: str, thread: str, reader: Reader) -> None:
        """Remember what a thread's reader has read, unless there is nothing of that thread: names are free to make up.

        For those who fail open even that: it is what the thread's next context will be made of.
        """
        if reader.snapshot or reader.past.holds(thread):
            self._readers.put((resource, thread), reader, reader.weight)
        else:
            self._readers.pop((resource, thread))

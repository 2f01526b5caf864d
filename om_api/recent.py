"""What this process read last, thread by thread, so that it decodes and renders only what is new: bounded in bytes."""

from __future__ import annotations

import threading
from collections import OrderedDict
from typing import TYPE_CHECKING, NamedTuple

from om_api.context import Rendering
from om_api.store.past import Past

if TYPE_CHECKING:
    from collections.abc import Callable

MOST = 32 * 2**20  # bytes of members; what they say and what is rendered of them takes about twice as many again


class Reader(NamedTuple):
    """What was decoded, and what was rendered, at the last look at one thread's context."""

    past: Past
    rendering: Rendering


class Recent:
    """The readers of a client; threads share it. Beyond `most` bytes the longest unused are forgotten: they cost time only."""

    def __init__(self, count: Callable[[str], int], most: int = MOST) -> None:
        self._count, self._most = count, most
        self._readers: OrderedDict[tuple[str, str], Reader] = OrderedDict()
        self._weights: dict[tuple[str, str], int] = {}
        self._weight = 0
        self._lock = threading.Lock()

    def of(self, resource: str, thread: str) -> Reader:
        """The reader of a thread, a new one where none is remembered."""
        with self._lock:
            key = (resource, thread)
            reader = self._readers.pop(key, None) or Reader(Past(), Rendering(self._count))
            self._readers[key] = reader
            return reader

    def weigh(self, resource: str, thread: str) -> None:
        """Note what a thread's reader remembers now, and forget others if it is too much together."""
        with self._lock:
            if reader := self._readers.get((resource, thread)):
                self._note((resource, thread), reader.past.weight)
            while self._weight > self._most and len(self._readers) > 1:
                oldest, _ = self._readers.popitem(last=False)
                self._note(oldest, 0)

    def _note(self, key: tuple[str, str], weight: int) -> None:
        self._weight += weight - self._weights.pop(key, 0)
        if weight:
            self._weights[key] = weight

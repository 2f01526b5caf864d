"""A table of what was used last: bounded in entries and in weight, so that no stranger's names make a process grow."""

from __future__ import annotations

import threading
from collections import OrderedDict
from collections.abc import Iterator
from typing import Generic, TypeVar, overload

K = TypeVar("K")
V = TypeVar("V")
D = TypeVar("D")
QUARTER = 0.25


class LRU(Generic[K, V]):
    """At most so many entries, and of so much weight together; beyond either the longest unused ones are forgotten.

    What alone is heavier than a `share` of the whole is not kept, so that one name cannot push out all others. Threads may
    share it. Iterating gives the keys, the longest unused first.
    """

    def __init__(self, most: int, most_weight: int = 0, share: float = QUARTER) -> None:
        self._most, self._most_weight, self._most_of_one = most, most_weight, most_weight * share
        self._entries: OrderedDict[K, tuple[V, int]] = OrderedDict()
        self._lock = threading.Lock()
        self.weight = 0

    def __len__(self) -> int:
        return len(self._entries)

    def __contains__(self, key: K) -> bool:
        return key in self._entries

    def __iter__(self) -> Iterator[K]:
        with self._lock:
            return iter(list(self._entries))

    @overload
    def get(self, key: K) -> V | None: ...
    @overload
    def get(self, key: K, default: D) -> V | D: ...
    def get(self, key: K, default: D | None = None) -> V | D | None:
        """What a key stands for, which is used by that; the default where nothing is remembered."""
        with self._lock:
            found = self._entries.get(key)
            if found is None:
                return default
            self._entries.move_to_end(key)
            return found[0]

    def put(self, key: K, value: V, weight: int = 0) -> None:
        """Remember what a key stands for now, and what that weighs."""
        with self._lock:
            self._drop(key)
            if self._most_weight and weight > self._most_of_one:
                return
            self._entries[key] = value, weight
            self.weight += weight
            while len(self._entries) > self._most or self.weight > self._most_weight > 0:
                self._drop(next(iter(self._entries)))

    def pop(self, key: K) -> V | None:
        """Forget a key; what it stood for."""
        with self._lock:
            return self._drop(key)

    def _drop(self, key: K) -> V | None:
        found = self._entries.pop(key, None)
        if found is None:
            return None
        self.weight -= found[1]
        return found[0]

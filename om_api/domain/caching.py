"""What is kept so as not to be made again: a table of what was used last, and the last result of a function.

A table is bounded in entries and in weight, so that no stranger's names make a process grow.
"""

import threading
from collections import OrderedDict
from collections.abc import Callable, Iterator, Sequence
from typing import Any, Generic, TypeVar, overload

K = TypeVar("K")
V = TypeVar("V")
D = TypeVar("D")
QUARTER = 0.25
_FEW = 3


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


class Memoized(Generic[V]):
    """A pure function that gives its last result again when it is asked the same. Nobody may change asked or given.

    Threads may share it: the worst is working once more.
    """

    def __init__(self, make: Callable[..., V]) -> None:
        self._make = make
        self._last: tuple[tuple[Any, ...], V] | None = None

    def __call__(self, *asked: Any) -> V:
        """What the function makes of this."""
        last = self._last
        if last is None or last[0] != asked:
            self._last = last = asked, self._make(*asked)
        return last[1]


def shared(before: Sequence[Any], now: Sequence[Any]) -> int:
    """How many items both begin with; most often all of the shorter one or but a few, which one comparison each tells."""
    short = min(len(before), len(now))
    for n in range(short, max(short - _FEW, 0), -1):
        if before[:n] == now[:n]:
            return n
    return next((n for n, (old, new) in enumerate(zip(before, now, strict=False)) if old != new), 0)

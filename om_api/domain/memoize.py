"""Doing again only what is not as it was: for what is read over and over, and differs a little each time."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, Generic, TypeVar

T = TypeVar("T")
_FEW = 3


class Memoized(Generic[T]):
    """A pure function that gives its last result again when it is asked the same. Nobody may change asked or given.

    Threads may share it: the worst is working once more.
    """

    def __init__(self, make: Callable[..., T]) -> None:
        self._make = make
        self._last: tuple[tuple[Any, ...], T] | None = None

    def __call__(self, *asked: Any) -> T:
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

"""Replays: how much of what is read call after call a prompt cache can serve again."""

from __future__ import annotations

from collections.abc import Callable


class CacheReplay:
    """Contexts in the order they were read, each beside the one read before it in its thread.

    `share` is how much of each context's bytes the next one begins with, over all of them: what a prompt cache holds that
    is of use again. `phi` is what had to be read afresh for each token that was appended: 1.0 is a history that only grows.
    """

    def __init__(self, count: Callable[[str], int]) -> None:
        self._count = count
        self._last: dict[str, bytes] = {}
        self._same = self._all = self._fresh = self._appended = 0

    def read(self, text: str, appended: int, thread: str = "") -> None:
        """Take in a thread's next context, which `appended` tokens of messages came before."""
        now = text.encode()
        if before := self._last.get(thread):
            same = _common(before, now)
            self._same += same
            self._all += len(before)
            self._fresh += self._count(now[same:].decode(errors="ignore"))
            self._appended += appended
        self._last[thread] = now

    @property
    def share(self) -> float:
        """The bytes that were read again from the beginning on, of all that could have been; 1.0 before the second."""
        return self._same / self._all if self._all else 1.0

    @property
    def phi(self) -> float:
        """Tokens read afresh for each one appended; 0.0 before the second context."""
        return self._fresh / self._appended if self._appended else 0.0


def _common(before: bytes, now: bytes) -> int:
    """How many bytes two texts have in common from the beginning on, found by halves."""
    low, high = 0, min(len(before), len(now))
    while low < high:
        middle = (low + high + 1) // 2
        if before[:middle] == now[:middle]:
            low = middle
        else:
            high = middle - 1
    return low

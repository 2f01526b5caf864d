"""When open pages look again: each in its turn, so that what they take together is bounded however many they are."""

import asyncio
import math
from collections.abc import Iterator
from contextlib import contextmanager

from om_api.http.serving.limits import LOOK_S

LOOKS = 3  # pages in a second, of all that listen in one process, that are told to look again
ANYHOW_S = 5.0  # after which a page looks again though nothing happened: that something was said is no event
_AT_REST = 20  # that are told so at once where none was lately


class PageTurns:
    """Pages that are to look again, one behind the other, however many listen; after a rest some of them at once."""

    def __init__(self) -> None:
        self._pages: list[PageTurn] = []
        self._next_at = 0.0

    @contextmanager
    def page(self) -> Iterator["PageTurn"]:
        """One page's turns, while it is open."""
        page = PageTurn(self)
        try:
            yield page
        finally:
            self.leave(page)

    def take(self, page: "PageTurn", now: float) -> None:
        """Queue up, unless it waits already."""
        if page not in self._pages:
            self._pages.append(page)
            self._next_at = max(self._next_at, now - _AT_REST / LOOKS)

    def at(self, page: "PageTurn") -> float:
        """When a page's turn comes; those before it may leave, and it comes earlier. Infinite for one that does not wait."""
        return self._next_at + self._pages.index(page) / LOOKS if page in self._pages else math.inf

    def done(self, page: "PageTurn") -> None:
        """It had its turn."""
        self.leave(page)
        self._next_at += 1 / LOOKS

    def leave(self, page: "PageTurn") -> None:
        """It waits no longer, and nobody waits for it."""
        if page in self._pages:
            self._pages.remove(page)


class PageTurn:
    """When a page is told to look again: in its turn after something changed, or when nothing did for ANYHOW_S."""

    def __init__(self, turns: PageTurns) -> None:
        self._clock = asyncio.get_running_loop().time
        self._turns, self._last = turns, self._clock()

    def wait(self) -> float:
        """Seconds until it comes, or until one looks around."""
        return min(LOOK_S, max(0, self._turns.at(self) - self._clock()))

    def come(self, *, to_look: bool) -> bool:
        """Whether it has come, of a page that is to look again or did not for ANYHOW_S; it is over then."""
        if to_look or self._clock() - self._last >= ANYHOW_S:
            self._turns.take(self, self._clock())
        if self._clock() < self._turns.at(self):
            return False
        self._turns.done(self)
        self._last = self._clock()
        return True

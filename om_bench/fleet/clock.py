"""What a simulation is made of: a clock that goes from one event to the next, and servers with a line before them."""

import heapq
import itertools
import math
from collections import deque
from collections.abc import Callable
from typing import TypeAlias

Call: TypeAlias = Callable[[], None]


class Clock:
    """Seconds since the beginning, and what is to happen when; what happens at the same time, in the order it was said."""

    def __init__(self) -> None:
        self.now = 0.0
        self._numbers = itertools.count()
        self._events: list[tuple[float, int, Call]] = []

    def after(self, seconds: float, call: Call) -> None:
        """Have something happen in so many seconds."""
        heapq.heappush(self._events, (self.now + seconds, next(self._numbers), call))

    def run(self, until: float = math.inf) -> None:
        """Let happen what is to happen by then."""
        while self._events and self._events[0][0] <= until:
            self.now, _, call = heapq.heappop(self._events)
            call()


class Servers:
    """So many servers behind one line, first come first served. `busy_s` is how long they worked, all together.

    Those `within` others hold one of theirs while they work: processes, one thing at a time each, on the cores of a machine.
    """

    def __init__(self, clock: Clock, count: int, within: "Servers | None" = None) -> None:
        self._clock, self._free, self._within = clock, count, within
        self._line: deque[tuple[float, Call]] = deque()
        self.busy_s = 0.0

    def use(self, seconds: float, then: Call) -> None:
        """Have work of so many seconds done when it is its turn, and go on; what takes no time waits for nobody."""
        if not seconds:
            then()
            return
        self._line.append((seconds, then))
        self._next()

    def _next(self) -> None:
        while self._free and self._line:
            self._free -= 1
            seconds, then = self._line.popleft()
            self.busy_s += seconds
            self._work(seconds, then)

    def _work(self, seconds: float, then: Call) -> None:
        def done() -> None:
            self._free += 1
            self._next()
            then()

        if self._within:
            self._within.use(seconds, done)
        else:
            self._clock.after(seconds, done)

"""How many calls arrive in any window of some seconds, by the server that counts them. Pure."""

from bisect import bisect_left
from collections.abc import Sequence
from typing import NamedTuple

_MOMENT = 1e-6


class Counted(NamedTuple):
    """Calls in all, and the fewest and most in any window that lies within the run."""

    calls: int
    fewest: int
    most: int


def count(arrivals: Sequence[float], window: float, end: float) -> Counted:
    """Count every window [t, t + window) from the first arrival up to `end`, wherever it begins.

    The count changes only where a call leaves the window or enters it: a window that begins with a call holds the most, one that
    begins right behind a call, or ends right before one, the fewest.
    """
    times = sorted(arrivals)
    if not times or times[0] + window > end:
        return Counted(len(times), len(times), len(times))
    starts = sorted({times[0], end - window, *times, *(at - window for at in times)})
    inside = [at for at in starts if times[0] <= at <= end - window]
    at_start = [_between(times, at, at + window) for at in inside]
    behind = [_between(times, at + _MOMENT, at + _MOMENT + window) for at in inside if at + _MOMENT <= end - window]
    return Counted(len(times), min(at_start + behind), max(at_start + behind))


def _between(times: Sequence[float], start: float, end: float) -> int:
    return bisect_left(times, end) - bisect_left(times, start)

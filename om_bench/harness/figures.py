"""Figures of `om bench speed`: what a piece of work took, what its reference took in the same run, and what to reach."""

from __future__ import annotations

import time
from collections.abc import Callable
from statistics import median

import msgspec


class Figure(msgspec.Struct, frozen=True, kw_only=True):
    """One line of the report.

    `value` is what is held against `reach` (None: it is told and not judged): a ratio of ours to its reference, or what
    `unit` says. `ours` and `reference` are what it was made of, in words for people ("83.1 us").
    """

    work: str
    ours: str
    reference: str
    value: float
    reach: float | None
    unit: str = "x"
    at_least: bool = False

    @property
    def met(self) -> bool | None:
        """Whether the target was reached; None without one."""
        if self.reach is None:
            return None
        return self.value >= self.reach if self.at_least else self.value <= self.reach


def us(seconds: float) -> str:
    """A duration for people, in microseconds."""
    return f"{seconds * 1e6:,.1f} us"


def timed(work: Callable[[], object]) -> float:
    """How long one call took, in seconds."""
    start = time.perf_counter()
    work()
    return time.perf_counter() - start


def side_by_side(
    ours: Callable[[], object], reference: Callable[[], object], rounds: int
) -> tuple[list[float], list[float]]:
    """Durations of both in seconds, call by call in turns, so that what slows the machine down slows both."""
    pairs = [(timed(ours), timed(reference)) for _ in range(rounds)]
    return [one for one, _ in pairs], [other for _, other in pairs]


def middle(durations: list[float]) -> float:
    """The median."""
    return median(durations)


def beside(work: str, ours: list[float], reference: list[float], reach: float, what: str = "") -> Figure:
    """The median of our durations over that of their reference, which `what` names."""
    one, other = middle(ours), middle(reference)
    named = f"{us(other)}: {what}" if what else us(other)
    return Figure(work=work, ours=us(one), reference=named, value=one / other, reach=reach)

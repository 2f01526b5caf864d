"""A value of a series. Pure."""

from __future__ import annotations

from typing import NamedTuple


class Histogram(NamedTuple):
    """How often something took at most so long, by bound (s, `+Inf` the last), and the seconds in all."""

    buckets: tuple[tuple[str, int], ...]
    seconds: float


class Sample(NamedTuple):
    """A value of a series, with the values of its labels in their order."""

    series: str
    labels: tuple[str, ...]
    value: float | Histogram

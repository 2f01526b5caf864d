"""Charts as pictures of a page: stacked areas or lines over time, with a table of the same for whoever cannot see them."""

from collections.abc import Sequence
from typing import NamedTuple

WIDTH, HEIGHT = 600, 132
_COLORS, _EDGE = 4, 2


class ChartSeries(NamedTuple):
    """One line of a chart: a value for each of its points."""

    name: str
    values: Sequence[float]


class Area(NamedTuple):
    """A series as it is drawn: which colour, and the corners of what it fills, or of its line."""

    name: str
    color: int
    corners: str


class Chart(NamedTuple):
    """What a template draws; `top` and `bottom` are the values at the edges, `points` names or times (Unix ms) along them.

    What is `stacked` is drawn as areas; of others one would hide the next, so they are lines.
    """

    points: Sequence[str | int]
    series: Sequence[ChartSeries]
    areas: Sequence[Area]
    top: float
    bottom: float
    unit: str
    stacked: bool


def chart(points: Sequence[str | int], series: Sequence[ChartSeries], unit: str, *, stacked: bool = True) -> Chart:
    """A chart of series of equal length, the first at the bottom; without `stacked` each begins at nothing."""
    below, tops, highest, lowest = [0.0] * len(points), [], 0.0, 0.0
    for each in series:
        top = [low + value for low, value in zip(below, each.values, strict=True)]
        tops.append((each, below, top))
        highest, lowest = max([highest, *top]), min([lowest, *top])
        below = top if stacked else below
    areas = [
        Area(each.name, number % _COLORS, _corners(low if stacked else (), top, highest, lowest))
        for number, (each, low, top) in enumerate(tops)
    ]
    return Chart(points, series, areas, highest, lowest, unit, stacked)


def _corners(low: Sequence[float], top: Sequence[float], highest: float, lowest: float) -> str:
    if len(top) == 1:
        low, top = [*low] * 2, [*top] * 2
    step = WIDTH / max(1, len(top) - 1)
    there = [(step * at, high) for at, high in enumerate(top)]
    back = [(step * at, base) for at, base in enumerate(low)][::-1]
    high = (HEIGHT - 2 * _EDGE) / ((highest - lowest) or 1)
    return " ".join(f"{x:.1f},{HEIGHT - _EDGE - (value - lowest) * high:.1f}" for x, value in [*there, *back])

"""Charts as pictures of a page: stacked areas or lines over time, with a table of the same for whoever cannot see them."""

from collections.abc import Sequence
from typing import NamedTuple

WIDTH, HEIGHT, EDGE = 600, 132, 2
_COLORS = 4


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
    """What a template draws; `points` are names or times (Unix ms) along it, `top` and `bottom` the values at its edges.

    `zero` is where the line of nothing runs; `bottom` is nothing, or the least where there is less. What is `stacked` is drawn
    as areas; of others one would hide the next, so they are lines.
    """

    points: Sequence[str | int]
    series: Sequence[ChartSeries]
    areas: Sequence[Area]
    top: float
    bottom: float
    zero: float
    unit: str
    stacked: bool


def chart(points: Sequence[str | int], series: Sequence[ChartSeries], unit: str, *, stacked: bool = True) -> Chart:
    """A chart of series of equal length, the first at the bottom; without `stacked` each begins at nothing."""
    below, drawn = [0.0] * len(points), []
    for number, each in enumerate(series):
        top = [low + value for low, value in zip(below, each.values, strict=True)]
        drawn.append((each.name, number % _COLORS, below, top))
        below = top if stacked else below
    values = [0.0, *(value for *_, top in drawn for value in top)]
    lowest, highest = min(values), max(values)

    def height(value: float) -> float:
        return HEIGHT - EDGE - (value - lowest) / (highest - lowest or 1) * (HEIGHT - 2 * EDGE)

    areas = [
        Area(name, color, _corners([*map(height, low if stacked else ())], [*map(height, top)]))
        for name, color, low, top in drawn
    ]
    return Chart(points, series, areas, highest, lowest, height(0), unit, stacked)


def _corners(low: Sequence[float], top: Sequence[float]) -> str:
    if len(top) == 1:
        low, top = [*low] * 2, [*top] * 2
    step = WIDTH / max(1, len(top) - 1)
    there = [(step * at, high) for at, high in enumerate(top)]
    back = [(step * at, base) for at, base in enumerate(low)][::-1]
    return " ".join(f"{x:.1f},{y:.1f}" for x, y in [*there, *back])

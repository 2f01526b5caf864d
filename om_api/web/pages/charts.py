"""Charts as pictures that a page holds: stacked areas over time, with a table of the same for whoever cannot see them."""

from collections.abc import Sequence
from typing import NamedTuple

WIDTH, HEIGHT, EDGE = 600, 150, 5
_COLORS = 4


class ChartSeries(NamedTuple):
    """One line of a chart: a value for each of its points."""

    name: str
    values: Sequence[float]


class Area(NamedTuple):
    """A series as it is drawn: which colour, and the corners of what it fills."""

    name: str
    color: int
    corners: str


class Chart(NamedTuple):
    """What a template draws; `points` are names or times (Unix ms) along it, `top` and `bottom` the values at its edges.

    `zero` is where the line of nothing runs; `bottom` is nothing, or the least where there is less. Areas are in the order in
    which they are drawn: of those that cover each other the largest is behind.
    """

    points: Sequence[str | int]
    series: Sequence[ChartSeries]
    areas: Sequence[Area]
    top: float
    bottom: float
    zero: float
    unit: str


def chart(points: Sequence[str | int], series: Sequence[ChartSeries], unit: str, *, stacked: bool = True) -> Chart:
    """A chart of series of equal length, the first at the bottom; without `stacked` each begins at nothing."""
    below, drawn = [0.0] * len(points), []
    for number, each in enumerate(series):
        top = [low + value for low, value in zip(below, each.values, strict=True)]
        drawn.append((each.name, number % _COLORS, below, top))
        below = top if stacked else below
    values = [0.0, *(value for *_, top in drawn for value in top)]
    lowest, highest = min(values), max(values)
    if not stacked:
        drawn.sort(key=lambda each: -max(each[-1], default=0))

    def height(value: float) -> float:
        return HEIGHT - EDGE - (value - lowest) / (highest - lowest or 1) * (HEIGHT - 2 * EDGE)

    areas = [Area(name, color, _corners([*map(height, low)], [*map(height, top)])) for name, color, low, top in drawn]
    return Chart(points, series, areas, highest, lowest, height(0), unit)


def _corners(low: Sequence[float], top: Sequence[float]) -> str:
    step = WIDTH / max(1, len(top) - 1)
    wide = [*zip((step * at for at in range(len(top))), low, top, strict=True)]
    if len(wide) == 1:
        wide.append((float(WIDTH), *wide[0][1:]))
    there = [(x, high) for x, _, high in wide]
    back = [(x, base) for x, base, _ in reversed(wide)]
    return " ".join(f"{x:.1f},{y:.1f}" for x, y in [*there, *back])

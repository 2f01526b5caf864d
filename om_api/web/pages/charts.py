"""Charts as pictures that a page holds: stacked areas over time, with a table of the same for whoever cannot see them."""

from collections.abc import Sequence
from typing import NamedTuple

WIDTH, HEIGHT, LEFT, BOTTOM = 600, 150, 52, 18
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
    """What a template draws; `top` is the value at the upper edge, `points` names or times (Unix ms) along the lower one."""

    points: Sequence[str | int]
    series: Sequence[ChartSeries]
    areas: Sequence[Area]
    top: float
    unit: str


def chart(points: Sequence[str | int], series: Sequence[ChartSeries], unit: str, *, stacked: bool = True) -> Chart:
    """A chart of series of equal length, the first at the bottom; without `stacked` each begins at nothing."""
    below, tops, highest = [0.0] * len(points), [], 0.0
    for each in series:
        top = [low + value for low, value in zip(below, each.values, strict=True)]
        tops.append((each, below, top))
        highest = max([highest, *top])
        below = top if stacked else below
    areas = [
        Area(each.name, number % _COLORS, _corners(low, top, highest or 1))
        for number, (each, low, top) in enumerate(tops)
    ]
    return Chart(points, series, areas, highest, unit)


def _corners(low: Sequence[float], top: Sequence[float], highest: float) -> str:
    step = (WIDTH - LEFT) / max(1, len(top) - 1)
    wide = [*zip((LEFT + step * at for at in range(len(top))), low, top, strict=True)]
    if len(wide) == 1:
        wide.append((float(WIDTH), *wide[0][1:]))
    there = [(x, high) for x, _, high in wide]
    back = [(x, base) for x, base, _ in reversed(wide)]
    room = HEIGHT - BOTTOM
    return " ".join(f"{x:.1f},{room - value / highest * (room - 10):.1f}" for x, value in [*there, *back])

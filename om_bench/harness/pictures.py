"""Pictures of what was measured, as SVG. The same figures make the same bytes."""

from typing import Any, TypeAlias

try:
    from matplotlib import figure, rc_context
except ImportError:
    figure = None  # type: ignore[assignment]  # the extra `bench` is not installed

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

from om_api.domain.errors import SettingsError
from om_bench.harness.stems import INSTALL

Picture: TypeAlias = Callable[[Path], None]

_SIZE = (7.5, 4.2)  # inches
_STYLE: Any = {
    "svg.hashsalt": "om",
    "svg.fonttype": "none",
    "font.size": 10,
    "axes.spines.top": False,
    "axes.spines.right": False,
}


def lines(
    kinds: Mapping[str, Sequence[float]], at: Sequence[float], axes: tuple[str, str], *, log: bool = False
) -> Picture:
    """A line for each kind over `at`; `axes` are the names of both axes."""

    def draw(plot: Any) -> None:
        for name, values in kinds.items():
            plot.plot(at, values, marker="o" if len(at) < 20 else None, label=name)  # noqa: PLR2004 - where marks touch
        plot.set_yscale("log" if log else "linear")
        plot.legend(frameon=False)

    return _picture(draw, axes)


def tiers(kinds: Mapping[str, Sequence[int]], axes: tuple[str, str]) -> Picture:
    """What lies on what, from the bottom up, call by call."""

    def draw(plot: Any) -> None:
        calls = range(1, 1 + max(map(len, kinds.values())))
        plot.stackplot(calls, *kinds.values(), labels=list(kinds))
        plot.legend(frameon=False, loc="upper left")

    return _picture(draw, axes)


def check() -> None:
    """Raise SettingsError unless pictures can be drawn."""
    if figure is None:
        raise SettingsError(INSTALL)


def save(folder: Path, pictures: Mapping[str, Picture]) -> None:
    """Draw pictures into a folder, which is made if need be; SettingsError without matplotlib."""
    check()
    folder.mkdir(parents=True, exist_ok=True)
    for name, draw in pictures.items():
        draw(folder / f"{name}.svg")


def _picture(draw: Callable[[Any], None], axes: tuple[str, str]) -> Picture:
    def drawn(path: Path) -> None:
        with rc_context(_STYLE):
            made = figure.Figure(figsize=_SIZE, layout="constrained")
            plot = made.subplots()
            draw(plot)
            plot.set(xlabel=axes[0], ylabel=axes[1])
            plot.set_ylim(bottom=None if plot.get_yscale() == "log" else 0)
            made.savefig(path, metadata={"Date": None})

    return drawn

"""Fitting what was noted before into a budget: the newest lines, and the important ones before them."""

from collections.abc import Callable, Iterator
from itertools import pairwise
from typing import NamedTuple

from om_workers.prompts.lines import is_important


def trim_previous(text: str, tokens: int, count: Callable[[str], int]) -> str:
    """Return the text if it fits into `tokens`, else as much of it as does; "" for a budget of 0.

    Kept are a raw tail and, newest first, important lines (🔴 or ✅) before it, never more of them than of tail lines:
    as many important lines as possible, then as long a tail. `[N observations truncated here]` stands for N hidden
    lines; a single one is shown instead. If nothing fits, the marker is all there is. Empty lines go first.
    """
    if tokens <= 0:
        return ""
    if count(text) <= tokens:
        return text
    lines = [line for line in text.split("\n") if line.strip()]
    whole = "\n".join(lines)
    return whole if count(whole) <= tokens else _trimmed(lines, tokens, count)


def _trimmed(lines: list[str], tokens: int, count: Callable[[str], int]) -> str:
    """Choose by the sum of the lines' tokens, and again with less where joining them made it more."""
    costs = _Costs([count(f"{line}\n") for line in lines], count(f"{_marker(len(lines))}\n"))
    budget = tokens + count("\n")  # the last line has no newline
    while budget > 0:
        best = max(_choices(lines, costs, budget), default=None)
        if best is None:
            break
        shown = _shown(lines, best.kept)
        if (excess := count(shown) - tokens) <= 0:
            return shown
        budget -= excess
    return _marker(len(lines))


class _Costs(NamedTuple):
    """Tokens of each line and of a marker, newline included."""

    lines: list[int]
    marker: int

    def hidden(self, start: int, end: int) -> int:
        """What it costs to hide the lines from start to end: nothing, one line shown after all, or a marker."""
        return 0 if start >= end else self.lines[start] if end - start == 1 else self.marker


class _KeptLines(NamedTuple):
    """Which lines to keep; the better choice is the greater one."""

    important: int
    tail: int
    kept: tuple[int, ...]


def _choices(lines: list[str], costs: _Costs, budget: int) -> Iterator[_KeptLines]:
    """For each tail that fits, the choice with the most important lines before it."""
    important = [at for at, line in enumerate(lines) if is_important(line)]
    spent = 0
    for start in range(len(lines) - 1, 1, -1):  # from the second line on it is everything, which does not fit
        spent += costs.lines[start]
        if spent > budget:
            return
        while important and important[-1] >= start:
            important.pop()
        if (choice := _with_important(lines, important, start, costs, budget - spent)) is not None:
            yield choice


def _with_important(lines: list[str], important: list[int], start: int, costs: _Costs, left: int) -> _KeptLines | None:
    """Add important lines, newest first, to the tail that begins at `start`, with the tokens that are left."""
    tail = len(lines) - start
    best = None if costs.hidden(0, start) > left else _KeptLines(0, tail, tuple(range(start, len(lines))))
    picked: list[int] = []
    first = start
    for at in important[: -tail - 1 : -1]:
        left -= costs.lines[at] + costs.hidden(at + 1, first)
        if left < 0:
            break
        picked.append(at)
        first = at
        one_too_many = at == 1 and len(picked) == tail and is_important(lines[0])  # the only hidden line would be shown
        if costs.hidden(0, at) <= left and not one_too_many:
            best = _KeptLines(len(picked), tail, (*reversed(picked), *range(start, len(lines))))
    return best


def _shown(lines: list[str], kept: tuple[int, ...]) -> str:
    shown: list[str] = []
    for before, at in pairwise((-1, *kept)):
        hidden = at - before - 1
        shown += lines[before + 1 : at] if hidden <= 1 else [_marker(hidden)]
        shown.append(lines[at])
    return "\n".join(shown)


def _marker(number: int) -> str:
    return f"[{number} observations truncated here]"

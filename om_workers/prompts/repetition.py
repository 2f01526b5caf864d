"""Telling a model that is caught in a loop from one that merely lists similar things."""

from collections import Counter
from itertools import groupby

from om_api.patterns.pattern import Pattern
from om_workers.prompts.lines import LONGEST

_SHORTEST_TEXT = 2_000
_SHORTEST_LINE = 24  # characters; shorter lines repeat in honest text
_WINDOW, _SAMPLES = 200, 50
_FEW_WINDOWS, _WINDOW_SHARE = 5, 0.4
_FEW_LINES, _LINE_SHARE = 20, 0.5
_LONGEST_LOOP = 10_000
_EXEMPT = Pattern(r"</?[A-Za-z][^<>]*>|(?:#+\s*|\*\*)?Date:.*", ignore_case=True)


def is_degenerate(text: str) -> bool:
    """Whether a reply repeats itself so much that nothing in it can be trusted; never for fewer than 2,000 characters.

    Any of three tests: more than 40 % of some 50 sampled windows are alike; more than half of the longer lines are
    copies; short lines that repeat make up more than 10,000 characters without a longer one between them. A single run
    of one line counts once as long as it is no longer than 10,000 characters. Lines are expected to be shortened first.
    """
    if len(text) < _SHORTEST_TEXT:
        return False
    lines = _collapsed(text.split("\n"))
    return _windows_repeat(lines) or _lines_repeat(lines) or _short_lines_loop(lines)


def _collapsed(lines: list[str]) -> list[str]:
    """Trimmed lines, where the only run of a line is written once if it is not too long."""
    runs = [(line, sum(1 for _ in run)) for line, run in groupby(lines)]
    number = Counter(line for line, _ in runs)
    collapsed: list[str] = []
    for line, length in runs:
        once = number[line] == 1 and length * len(line) <= _LONGEST_LOOP
        collapsed += [line.strip()] * (1 if once else length)
    return collapsed


def _windows_repeat(lines: list[str]) -> bool:
    text = "\n".join(line for line in lines if _SHORTEST_LINE <= len(line) <= LONGEST)
    if len(text) < _SHORTEST_TEXT:
        return False
    windows = [text[at : at + _WINDOW] for at in range(0, len(text) - _WINDOW + 1, len(text) // _SAMPLES)]
    return len(windows) > _FEW_WINDOWS and len(windows) - len(set(windows)) > _WINDOW_SHARE * len(windows)


def _lines_repeat(lines: list[str]) -> bool:
    counted = [line for line in lines if len(line) >= _SHORTEST_LINE]
    return len(counted) >= _FEW_LINES and len(counted) - len(set(counted)) > _LINE_SHARE * len(counted)


def _short_lines_loop(lines: list[str]) -> bool:
    counted = (line for line in lines if line and not _EXEMPT.fullmatch(line))
    for short, run in groupby(counted, key=lambda line: len(line) < _SHORTEST_LINE):
        repeated = [len(line) * times for line, times in Counter(run).items() if times > 1]
        if short and sum(repeated) > _LONGEST_LOOP:
            return True
    return False

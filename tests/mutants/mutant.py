"""One small mistake: what was changed, under a name that survives edits elsewhere in the file."""

import difflib
from collections import Counter
from collections.abc import Iterable
from typing import Literal, NamedTuple

FEW = 16  # up to here one more is another number; beyond it, twice as many or half of them
COMPARED = {"<": "<=", "<=": "<", ">": ">=", ">=": ">", "==": "!=", "!=": "=="}
EXTREMES = {"min": "max", "max": "min"}
LIFETIMES = {"EXPIRE", "PEXPIRE", "EX", "PX"}  # the server's words before how long something is kept

Language = Literal["lua", "python"]


def others(number: float) -> list[str]:
    """What is tried in place of a number: one more and nothing of a few, twice and half of many and of a share."""
    if isinstance(number, int) and number <= FEW:
        return [str(number + 1), "0"] if number else ["1"]
    half = number // 2 if isinstance(number, int) else number / 2
    return [repr(number * 2), repr(half)] if number else ["1.0"]


def lifetimes(text: str, language: Language) -> list[str]:
    """Twice and half of a lifetime, whatever it is reckoned from; servers take whole numbers."""
    half = f"math.floor(({text}) / 2)" if language == "lua" else f"(({text}) // 2)"
    return [f"(({text}) * 2)", half]


_LONG = 70
_AT_HOME = ("om_api/store/lua/", "om_api/", "om_workers/")  # left out of names: no two files are alike without them


class Change(NamedTuple):
    """Characters start to stop of a source become `text`; `says` is the change in words."""

    start: int
    stop: int
    text: str
    says: str


class Mutant(NamedTuple):
    """A change of one file. `id` names the file and the condition's own text, never its line."""

    id: str
    path: str
    source: str
    change: Change

    @property
    def line(self) -> int:
        """Where the change begins, from 1."""
        return self.source.count("\n", 0, self.change.start) + 1

    def mutated(self) -> str:
        """The file's text without the guard."""
        return self.source[: self.change.start] + self.change.text + self.source[self.change.stop :]

    def diff(self) -> str:
        """The change as a unified diff."""
        old, new = self.source.splitlines(keepends=True), self.mutated().splitlines(keepends=True)
        return "".join(difflib.unified_diff(old, new, self.path, self.path, n=2))


def name_all(path: str, source: str, changes: Iterable[Change]) -> list[Mutant]:
    """Mutants of one file, in the order of their lines; the second of two that read alike ends with #2, and so on."""
    met: Counter[str] = Counter()
    mutants = []
    for change in sorted(set(changes)):
        met[change.says] += 1
        again = f" #{met[change.says]}" if met[change.says] > 1 else ""
        mutants.append(Mutant(f"{short(path)}: {change.says}{again}", path, source, change))
    return mutants


def short(path: str) -> str:
    """A file's name with its room: `policy.py`, `context/ages.py`, `seal.lua`."""
    return next((path.removeprefix(home) for home in _AT_HOME if path.startswith(home)), path)


def abridged(text: str) -> str:
    """A condition on one line, its middle left out when it is long."""
    flat = " ".join(text.split())
    return flat if len(flat) <= _LONG else f"{flat[: _LONG // 2]} … {flat[-_LONG // 2 :]}"


def without(operand: str, whole: str) -> str:
    """What a change that drops one side of an `and` or `or` is called."""
    return f"{abridged(whole)} -> without {abridged(operand)}"

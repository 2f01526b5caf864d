"""The verdict: how many mutants the tests notice, apart from those that are listed because no test could notice them."""

from collections import Counter
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

import yaml

from mutants.mutant import Mutant, short

_EQUIVALENT = Path(__file__).with_name("equivalent.yaml")

_INTRODUCTION = """\
Every condition is forced to true and to false, each side of an `and` or `or` dropped, each `NX`, `XX`, `GT`, `LT` and `REV` left
out, each lock granted to everyone, each comparison moved by one, `min` made `max`, each number made one more and nothing, or
twice as much and half, each lifetime twice as long and half: one at a time, in every script, in `policy.py`, `chunking.py`, the
sweep and the code about locks, leases and the due indexes, and in {drawn} of context, language, prompts, settings and http{left}.
Each is tried with up to 40 tests that run its line, the shortest first, on a real server, until one fails."""


class Verdict(NamedTuple):
    """Mutants by what became of them; `wrong` are mistakes in the list of equivalents."""

    killed: list[Mutant]
    equivalent: list[Mutant]
    unlisted: list[Mutant]
    wrong: list[str]

    @property
    def score(self) -> float:
        """The share that was noticed, of those that can be."""
        return len(self.killed) / max(1, len(self.killed) + len(self.unlisted))


def equivalents() -> dict[str, str]:
    """Mutants that no test can notice: id -> the reason."""
    return dict(yaml.safe_load(_EQUIVALENT.read_text("utf-8")) or {})


def judge(mutants: Sequence[Mutant], killers: Mapping[str, str], listed: Mapping[str, str], every: set[str]) -> Verdict:
    """Compare who killed what with the list; `every` holds the ids of all mutants there are."""
    survivors = [mutant for mutant in mutants if not killers[mutant.id]]
    killed = [mutant for mutant in mutants if killers[mutant.id]]
    wrong = [f"{m.id}: listed as equivalent, but {killers[m.id]} notices it" for m in killed if m.id in listed]
    wrong += [f"{name}: listed as equivalent, but there is no such mutant" for name in listed if name not in every]
    return Verdict(
        killed,
        [mutant for mutant in survivors if mutant.id in listed],
        [mutant for mutant in survivors if mutant.id not in listed],
        wrong,
    )


def report(verdict: Verdict, listed: Mapping[str, str], left: int) -> str:
    """The verdict for docs/reliability.md: numbers by file, and each equivalent with its reason; `left` were not drawn."""
    groups = (verdict.killed, verdict.equivalent, verdict.unlisted)
    counts = [Counter(short(mutant.path) for mutant in group) for group in groups]
    files = sorted({name for count in counts for name in count}, key=lambda name: (name.endswith(".py"), name))
    rows = [(name, *(count[name] for count in counts)) for name in files]
    rows.append(("all", *(count.total() for count in counts)))
    lines = [
        _INTRODUCTION.format(
            drawn="a tenth, drawn by name," if left else "all", left=f" ({left} were not drawn)" if left else ""
        ),
        "",
        "| file | mutants | noticed by a test | equivalent | unnoticed |",
        "|---|---|---|---|---|",
    ]
    lines += [f"| {name} | {sum(found)} | {' | '.join(map(str, found))} |" for name, *found in rows]
    if verdict.equivalent:
        lines += ["", "Equivalent, which no test can notice, because:", ""]
        lines += [f"- `{mutant.id}`: {' '.join(listed[mutant.id].split())}" for mutant in verdict.equivalent]
    return "\n".join(lines)

"""The gate: what is measured of committed talks, held against what was recorded."""

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

import msgspec

from om_api.domain.errors import InvalidInputError
from om_api.domain.tokens import counter
from om_bench.harness.page import table
from om_bench.harness.talks import Talk, read_text
from om_bench.memory.budgets import Judged, at_budget, evidence_recall
from om_bench.memory.lookup import FIRST

SHARES = (0.05, 0.1, 0.25)
TOLERANCE = 1.0  # points that a figure may be below what was recorded
MOST_USED = 101.0  # percent: notes that take more than their budget are no better for it
MOST_WORDS = 200  # of a line of notes: a line is a window of its own, so one that holds all would support all
_USED, _LONGEST = "budget used", "words of the longest line"
_MOST = {_USED: MOST_USED, _LONGEST: MOST_WORDS}
Figures = Mapping[str, float]  # in percent but for words


def measure(talks: Sequence[Talk]) -> Figures:
    """The figures of some talks by their names; no machine changes them."""
    judged = [Judged(talk, counter()) for talk in talks]
    found = {f"evidence among {FIRST} hits": evidence_recall(judged).hits.percent}
    for at in (at_budget(judged, share) for share in SHARES):
        found[f"S of notes at {at.share:.0%}"] = at.extractive.all.percent
        found[f"S of notes and recall at {at.share:.0%}"] = at.recalled.all.percent
        found[f"S of notes and recall unasked at {at.share:.0%}"] = at.unasked.all.percent
        found[f"pairs kept at {at.share:.0%}"] = at.pairs.within.percent
        found[f"{_USED} at {at.share:.0%}"] = at.used.percent
        found[f"{_LONGEST} at {at.share:.0%}"] = at.pairs.longest
    return found


def fallen(recorded: Figures, found: Figures) -> list[str]:
    """The figures that do not hold: below what was recorded by more than the tolerance, above a bound, or on one side only."""
    return [name for name in {**recorded, **found} if not _holds(name, recorded.get(name), found.get(name))]


def _holds(name: str, recorded: float | None, found: float | None) -> bool:
    if recorded is None or found is None:
        return False
    most = _MOST.get(name.rpartition(" at ")[0])
    return (most is None or found <= most) and (found >= recorded - TOLERANCE or name.startswith(_LONGEST))


def read(path: Path) -> Figures:
    """The recorded figures of a file; InvalidInputError where it holds none."""
    try:
        return msgspec.json.decode(read_text(path), type=dict[str, float])
    except msgspec.DecodeError as error:
        raise InvalidInputError(f"{path}: {error}: write it by `om bench gate --record`") from error


def write(path: Path, found: Figures) -> None:
    """Record figures, one a line."""
    path.write_text(msgspec.json.format(msgspec.json.encode(found)).decode() + "\n", encoding="utf-8")


def as_lines(recorded: Figures, found: Figures) -> Iterator[str]:
    """Both beside each other."""
    failed = fallen(recorded, found)
    names = {**recorded, **found}
    yield from table(["figure", "recorded", "measured", "holds"], [
        [name, recorded.get(name, "-"), found.get(name, "-"), "**no**" if name in failed else "yes"] for name in names
    ])  # fmt: skip

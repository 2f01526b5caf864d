"""Joining: chosen sentences become notes, as few and as long as can be read at a glance."""

from __future__ import annotations

from itertools import groupby
from typing import TYPE_CHECKING

from om_workers.llm.extractive.dates import show
from om_workers.llm.extractive.marks import label, main, speaker
from om_workers.llm.extractive.notes import Note

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from om_workers.llm.extractive.choosing import Pick
    from om_workers.llm.extractive.dates import Clock
    from om_workers.llm.extractive.styles import Style
    from om_workers.llm.extractive.units import Unit

LONGEST = 900  # characters of the sentences joined into one line
SITTING = 3_600_000  # ms within which what somebody says stands together
_TOGETHER = 600_000  # ms within which the results of one tool stand under one line

Line = tuple[str, int, str, str]


def joined(picks: Sequence[Pick], style: Style, clock: Clock) -> Iterator[Note]:
    """The notes of picks in their order; results of one tool are nested under the first."""
    return iter(_nested(_groups(picks, clock) if style.grouped else _messages(picks), style, clock))


def line_of(pick: Pick, clock: Clock, style: Style) -> tuple[object, ...]:
    """What sentences that may share a line have in common."""
    unit = pick.unit
    if unit.label or not style.grouped:
        return unit.order, pick.mark
    return clock.day(unit.at), unit.at // SITTING, speaker(unit), pick.apart


def _messages(picks: Iterable[Pick]) -> Iterator[list[Pick]]:
    for _, group in groupby(picks, key=lambda pick: (pick.unit.order, pick.mark)):
        yield list(group)


def _groups(picks: Iterable[Pick], clock: Clock) -> Iterator[list[Pick]]:
    """What each speaker says in a sitting; each result of a tool alone."""
    groups: dict[object, list[Pick]] = {}
    for place, pick in enumerate(picks):
        unit = pick.unit
        key = place if unit.label else (clock.day(unit.at), unit.at // SITTING, speaker(unit), pick.apart)
        groups.setdefault(key, []).append(pick)
    yield from groups.values()


def _nested(groups: Iterable[list[Pick]], style: Style, clock: Clock) -> list[Note]:
    made: list[Note] = []
    before: Unit | None = None
    for members in groups:
        unit, mark = members[0].unit, main(pick.mark for pick in members)
        texts = list(_lines([pick.text for pick in members]))
        if before and mark == made[-1].priority and _together(before, unit):
            made[-1].details += texts
            continue
        at = clock.at(unit.at)
        time = f"{at:%H:%M}" if unit.label or not style.grouped else ""
        if style.grouped and not unit.label:
            made += [Note(f"{speaker(unit)}: {text}", mark, time, show(at), details=[]) for text in texts]
        else:
            made.append(Note(f"{label(unit)}: {texts[0]}", mark, time, show(at), details=texts[1:]))
        before = unit
    return made


def _together(before: Unit, unit: Unit) -> bool:
    return bool(unit.label) and before.label == unit.label and unit.at - before.at < _TOGETHER


def _lines(texts: list[str]) -> Iterator[str]:
    line = ""
    for text in texts:
        if line and len(line) + len(text) > LONGEST:
            yield line
            line = ""
        line = f"{line.rstrip('.')}; {text}" if line else text
    yield line

"""Joining: chosen sentences become notes, as few and as long as can be read at a glance."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from itertools import groupby
from typing import NamedTuple

from om_api.language.calendar import LocalTime, show_day
from om_workers.llm.extractive.marks import label, main, speaker
from om_workers.llm.extractive.notes import DONE, DatedNote
from om_workers.llm.extractive.units import Unit

LONGEST = 900  # characters of the sentences joined into one line
SITTING = 3_600_000  # ms within which what somebody says stands together
_TOGETHER = 600_000  # ms within which the results of one tool stand under one line
_PLENTY, _SOME, _LITTLE = 0.6, 0.35, 0.3  # shares of the original's tokens that notes may have


class Style(NamedTuple):
    """How notes are written.

    `level` is that of telegraphic style. `grouped`: one line for what a speaker says in a sitting, without its time, instead
    of one a message. `dated`: what a relative date means is told.
    """

    level: int
    grouped: bool
    dated: bool


class Pick(NamedTuple):
    """A chosen sentence as it will be written."""

    unit: Unit
    mark: str
    text: str

    @property
    def apart(self) -> bool:
        """Whether it stands in a line of its own kind: what is done, or was pasted, is never told among the rest."""
        return self.mark == DONE or (self.unit.pasted and not self.unit.cues.own)


def style_for(share: float) -> Style:
    """The style of notes that may have this share of what they note."""
    if share >= _SOME:
        return Style(0 if share >= _PLENTY else 2, grouped=False, dated=True)
    return Style(3, grouped=True, dated=share >= _LITTLE)


def joined(picks: Sequence[Pick], style: Style, clock: LocalTime) -> Iterator[DatedNote]:
    """The notes of picks in their order; results of one tool are nested under the first."""
    return iter(_nested(_groups(picks, clock) if style.grouped else _messages(picks), style, clock))


def line_of(pick: Pick, clock: LocalTime, style: Style) -> tuple[object, ...]:
    """What sentences that may share a line have in common."""
    unit = pick.unit
    if unit.label or not style.grouped:
        return unit.order, pick.mark
    return clock.day(unit.at), unit.at // SITTING, speaker(unit), pick.apart


def _messages(picks: Iterable[Pick]) -> Iterator[list[Pick]]:
    for _, group in groupby(picks, key=lambda pick: (pick.unit.order, pick.mark)):
        yield list(group)


def _groups(picks: Iterable[Pick], clock: LocalTime) -> Iterator[list[Pick]]:
    """What each speaker says in a sitting; each result of a tool alone."""
    groups: dict[object, list[Pick]] = {}
    for place, pick in enumerate(picks):
        unit = pick.unit
        key = place if unit.label else (clock.day(unit.at), unit.at // SITTING, speaker(unit), pick.apart)
        groups.setdefault(key, []).append(pick)
    yield from groups.values()


def _nested(groups: Iterable[list[Pick]], style: Style, clock: LocalTime) -> list[DatedNote]:
    made: list[DatedNote] = []
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
            made += [DatedNote(f"{speaker(unit)}: {text}", mark, time, show_day(at), details=[]) for text in texts]
        else:
            made.append(DatedNote(f"{label(unit)}: {texts[0]}", mark, time, show_day(at), details=texts[1:]))
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

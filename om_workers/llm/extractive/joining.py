"""Joining: chosen sentences become notes, each with its priority and its speaker, as few as can be read at a glance."""

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from itertools import groupby
from typing import NamedTuple

from om_api.language.calendar import LocalTime, show_day
from om_workers.llm.extractive import cues
from om_workers.llm.extractive.notes import DONE, HIGH, LOW, MIDDLE, DatedNote
from om_workers.llm.extractive.units import Unit

LONGEST = 900  # characters of the sentences joined into one line
SITTING = 3_600_000  # ms within which what somebody says stands together
_TOGETHER = 600_000  # ms within which the results of one tool stand under one line
_PLENTY, _SOME, _LITTLE = 0.6, 0.35, 0.3  # shares of the original's tokens that notes may have
_ORDER = (HIGH, DONE, MIDDLE, LOW)
_ENOUGH = 4  # one sentence of so many, at least, has the mark of a line: there are four marks


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


def line_of(pick: Pick, clock: LocalTime, style: Style) -> tuple[object, ...]:
    """What sentences that may share a line have in common."""
    unit = pick.unit
    if unit.label or not style.grouped:
        return unit.order, pick.mark
    return clock.day(unit.at), unit.at // SITTING, speaker(unit), pick.apart


def _groups(picks: Iterable[Pick], clock: LocalTime, style: Style) -> Iterable[list[Pick]]:
    """What each message says by its marks; where it is to be grouped, what each speaker says in a sitting, a tool alone."""
    if not style.grouped:
        return [list(group) for _, group in groupby(picks, key=lambda pick: (pick.unit.order, pick.mark))]
    groups: dict[object, list[Pick]] = {}
    for place, pick in enumerate(picks):
        groups.setdefault(place if pick.unit.label else line_of(pick, clock, style), []).append(pick)
    return groups.values()


def joined(picks: Sequence[Pick], style: Style, clock: LocalTime) -> list[DatedNote]:
    """The notes of picks in their order; results of one tool are nested under the first."""
    made: list[DatedNote] = []
    before: Unit | None = None
    for members in _groups(picks, clock, style):
        unit, mark = members[0].unit, main(pick.mark for pick in members)
        texts = list(_lines([pick.text for pick in members]))
        together = before and before.label == unit.label and unit.at - before.at < _TOGETHER
        if unit.label and together and mark == made[-1].priority:
            made[-1].details += texts
            continue
        at = clock.at(unit.at)
        if style.grouped and not unit.label:
            made += [DatedNote(f"{speaker(unit)}: {text}", mark, "", show_day(at), details=[]) for text in texts]
        else:
            made.append(DatedNote(f"{label(unit)}: {texts[0]}", mark, f"{at:%H:%M}", show_day(at), details=texts[1:]))
        before = unit
    return made


def _lines(texts: list[str]) -> Iterator[str]:
    line = ""
    for text in texts:
        if line and len(line) + len(text) > LONGEST:
            yield line
            line = ""
        line = f"{line.rstrip('.')}; {text}" if line else text
    yield line


def priority(unit: Unit) -> str:
    """The mark of a unit: what the user is, wants and decided, and what failed, is high; what is finished is done."""
    if unit.failed:
        return HIGH
    if unit.cues.done:
        return DONE
    return _of_user(unit) if unit.role == "user" else MIDDLE


def _of_user(unit: Unit) -> str:
    found = unit.cues
    if found.asks:
        return MIDDLE
    if found.unsure or (unit.pasted and not found.own):
        return LOW
    if found.strong or (found.first and (found.numbers or found.time)):
        return HIGH
    return MIDDLE if found.first or cues.asked(unit.text, unit.words) else LOW


def main(marks: Iterable[str]) -> str:
    """The mark of a line: the highest that a quarter of its sentences have."""
    counts = Counter(marks)
    return next(mark for mark in _ORDER if counts[mark] * _ENOUGH >= counts.total())


def speaker(unit: Unit) -> str:
    """Who says it: a tool's name, a person's, or the role."""
    return unit.speaker or unit.label or unit.role.capitalize()


def label(unit: Unit) -> str:
    """Who says or asks it."""
    return f"{speaker(unit)} asked" if unit.role == "user" and unit.cues.asks else speaker(unit)

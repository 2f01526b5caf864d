"""Joining: chosen sentences become notes, a line for what one message tells, each with its priority and its speaker."""

from collections.abc import Collection, Iterable, Sequence
from itertools import pairwise
from typing import NamedTuple

from om_api.language.calendar import LocalTime, show_day
from om_workers.llm.extractive import cues
from om_workers.llm.extractive.notes import DONE, HIGH, LOW, MIDDLE, DatedNote
from om_workers.llm.extractive.units import Unit

GAP = "…"  # between sentences of a line that did not follow each other
LONGEST = 900  # characters of the sentences joined into one line
SITTING = 3_600_000  # ms within which what a person says stands together
_TOGETHER = 600_000  # ms within which the results of one tool stand under one line
_ORDER = (HIGH, DONE, MIDDLE, LOW)
_FEW = 4  # one line of so many is high, at most


class Pick(NamedTuple):
    """A chosen sentence as it will be written, and what it gained."""

    unit: Unit
    text: str
    gain: float


def in_order(picks: Iterable[Pick]) -> list[Pick]:
    """Picks as they were said."""
    return sorted(picks, key=lambda pick: (pick.unit.order, pick.unit.place))


def line_of(unit: Unit) -> tuple[object, ...]:
    """What sentences that share a line have in common: the message or, where people talk, the person and the sitting.

    What is done, or was pasted, is never told among the rest.
    """
    whole = (unit.speaker, unit.at // SITTING) if unit.shared else (unit.order, unit.label)
    return *whole, priority(unit) == DONE, unit.pasted and not unit.cues.own


def joined(picks: Sequence[Pick], clock: LocalTime, *, timed: bool) -> list[DatedNote]:
    """The notes of picks in their order, with the time of day or without; results of one tool are nested under the first."""
    groups = _groups(picks, clock)
    high = _highest(groups)
    made: list[DatedNote] = []
    before: Unit | None = None
    for place, members in enumerate(groups):
        unit, mark = members[0].unit, _mark(members, high=place in high)
        together = before and before.label == unit.label and unit.at - before.at < _TOGETHER
        if unit.label and together and mark == made[-1].priority:
            made[-1].details += [pick.text for pick in members]
            continue
        made.append(_note(members, mark, clock, timed=timed))
        before = unit
    return made


def _groups(picks: Iterable[Pick], clock: LocalTime) -> list[list[Pick]]:
    """The picks of each line, lines in the order of their first picks; one that is long, or goes on past midnight, is cut."""
    groups: list[list[Pick]] = []
    known: dict[object, tuple[list[Pick], int]] = {}
    for pick in picks:
        line = line_of(pick.unit), clock.day(pick.unit.at)
        members, size = known.get(line, ([], LONGEST))
        if size + len(pick.text) > LONGEST:
            members, size = [], 0
            groups.append(members)
        members.append(pick)
        known[line] = members, size + len(pick.text)
    return groups


def _note(members: Sequence[Pick], mark: str, clock: LocalTime, *, timed: bool) -> DatedNote:
    unit = members[0].unit
    at = clock.at(unit.at)
    who = label(unit) if all(pick.unit.cues.asks for pick in members) else speaker(unit)
    text, *details = [pick.text for pick in members] if unit.label else [told(members)]
    return DatedNote(f"{who}: {text}", mark, f"{at:%H:%M}" if timed else "", show_day(at), details=details)


def told(members: Sequence[Pick]) -> str:
    """The sentences of a line, with a mark where something between them was left out."""
    text = members[0].text
    for (before, *_), (unit, said, _) in pairwise(members):
        follows = unit.order == before.order and unit.place == before.place + 1
        text += f" {said}" if follows else f" {GAP} {said}"
    return text


def _highest(groups: Sequence[Sequence[Pick]]) -> Collection[int]:
    """The lines that are high: of those that could be, what failed first, then the worthiest."""
    return few(
        [
            max((pick.unit.failed, pick.gain) for pick in members) if _mark(members, high=True) == HIGH else None
            for members in groups
        ]
    )


def few(worth: Sequence[tuple[bool, float] | None]) -> Collection[int]:
    """The places of the worthiest, a quarter of all at most, but of a few one; None is never among them."""
    ranked = [(one, -place) for place, one in enumerate(worth) if one is not None]
    return {-place for _, place in sorted(ranked, reverse=True)[: max(1, len(worth) // _FEW)]}


def _mark(members: Sequence[Pick], *, high: bool) -> str:
    marks = {priority(pick.unit) for pick in members}
    mark = next(mark for mark in _ORDER if mark in marks)
    return MIDDLE if mark == HIGH and not high else mark


def priority(unit: Unit) -> str:
    """The mark of a unit: what the user is, wants and decided, and what failed, is high; what is finished is done."""
    if unit.failed:
        return HIGH
    if unit.cues.done and unit.role != "tool":
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


def speaker(unit: Unit) -> str:
    """Who says it: a tool's name, a person's, or the role."""
    return unit.speaker or unit.label or unit.role.capitalize()


def label(unit: Unit) -> str:
    """Who says or asks it."""
    return f"{speaker(unit)} asked" if unit.role == "user" and unit.cues.asks else speaker(unit)

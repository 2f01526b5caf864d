"""Marks: the priority of a line, and whose it is."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable

from om_workers.llm.extractive import cues
from om_workers.llm.extractive.notes import DONE, HIGH, LOW, MIDDLE
from om_workers.llm.extractive.units import Unit

_ORDER = (HIGH, DONE, MIDDLE, LOW)
_ENOUGH = 4  # one sentence of so many, at least, has the mark of a line: there are four marks


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

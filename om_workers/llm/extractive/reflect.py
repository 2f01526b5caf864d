"""Reflecting: many dated lines become fewer; their sentences are chosen again, the important and the new ones first."""

import math
from collections.abc import Iterator, Sequence
from datetime import date

import msgspec

from om_api.language.calendar import month_number, show_day
from om_api.language.telegraphic import one_line
from om_api.patterns.pattern import Pattern
from om_workers.llm.base import Request
from om_workers.llm.extractive import notes, patterns, scoring
from om_workers.llm.extractive.choosing import Chooser, filled
from om_workers.llm.extractive.duplicates import without
from om_workers.llm.extractive.joining import Pick, few, in_order, told
from om_workers.llm.extractive.noted import units_of
from om_workers.llm.extractive.notes import DONE, FRAME, HIGH, LOW, MIDDLE, DatedNote, counted
from om_workers.llm.extractive.units import Unit

DETAIL = (0.95, 0.8, 0.6, 0.4, 0.2)  # the share of the target that each level of compression fills
_LINE_END = 1  # tokens
_FIRST = 1_000  # what is marked as important comes before all else
_WEIGHT = {HIGH: 1.4 * _FIRST, DONE: 1.3 * _FIRST, MIDDLE: 1.0, LOW: 0.9, "": 1.0}
_NEWEST = 0.25  # what the newest line is worth beyond the oldest
_DAY = Pattern(r"([A-Za-z]{3})[a-z]*\.? (\d{1,2})\b.*?\b(\d{4})|(\d{4})-(\d\d)-(\d\d)")
_ONE_DAY = Pattern(r"[A-Za-z]{3,9}\.? \d{1,2}(?:st|nd|rd|th)?,? \d{4}|\d{4}-\d\d-\d\d")


def reflect(request: Request) -> str:
    """The observations of a request condensed to its target in our tag format; never empty unless they are."""
    texts = [text for text in (request.previous, *request.observations) if text.strip()]
    if len(texts) > 1 and request.previous in request.observations:
        del texts[0]
    found = [_headed(note) for text in texts for note in notes.read(text)] or [
        DatedNote(one_line(text)[: notes.LONGEST]) for text in texts
    ]
    lines, known = patterns.apart(found)
    closing = [DatedNote(text, MIDDLE) for text in patterns.find(lines, known)]
    lines = list(_ordered(without(lines)))
    size, level = counted(notes.write(lines)), min(max(request.level, 0), len(DETAIL) - 1)
    room = _room(request, size, level) - sum(map(_cost, closing))
    kept = lines if size <= room else _kept(lines, room)
    block = notes.write([*kept, *closing])
    return "\n".join(filter(None, ["<observations>", block, "</observations>"]))


def _room(request: Request, size: int, level: int) -> float:
    """Tokens to fill: the level's share of the target or, where there is none, of the size; at level 0 all is kept then."""
    if request.target_tokens:
        return int(request.target_tokens * DETAIL[level]) - counted(FRAME)
    return int(size * DETAIL[level]) if level else math.inf


def _cost(note: DatedNote) -> int:
    return sum(counted(line) + _LINE_END for line in note.lines())


def _kept(lines: Sequence[DatedNote], room: float) -> list[DatedNote]:
    """The lines with those of their sentences that fit into `room` tokens, in their old order; at least one."""
    found = [unit for order, note in enumerate(lines) for unit in units_of(note, order)]
    last = max(len(lines) - 1, 1)
    chooser = Chooser(
        found,
        [unit.text for unit in found],
        [_factor(lines[unit.order].priority, unit, unit.order / last) for unit in found],
        heading=lambda unit: (lines[unit.order].thread, lines[unit.order].day),
        written=lambda _, text: text,
    )
    picks, _ = filled(chooser, room, lambda picks: notes.write(_written(picks, lines)))
    return _written(picks, lines)


def _factor(mark: str, unit: Unit, place: float) -> float:
    """What a sentence's words are worth: more in an important line, and in a new one (`place` from oldest 0 to newest 1)."""
    return _WEIGHT[mark] * (1 + _NEWEST * place) * scoring.bonus(unit.cues, unit.role) * scoring.standing(unit)


def _written(picks: Sequence[Pick], lines: Sequence[DatedNote]) -> list[DatedNote]:
    """The lines that picks are of, each with what was picked of it; no more than a few are high."""
    kept: dict[int, list[Pick]] = {}
    for pick in in_order(picks):
        kept.setdefault(pick.unit.order, []).append(pick)
    made = [_with(lines[order], members) for order, members in kept.items()]
    high = few(
        [
            (False, max(pick.gain for pick in members)) if note.priority == HIGH else None
            for note, members in zip(made, kept.values(), strict=True)
        ]
    )
    return [
        msgspec.structs.replace(note, priority=MIDDLE) if note.priority == HIGH and place not in high else note
        for place, note in enumerate(made)
    ]


def _with(note: DatedNote, members: Sequence[Pick]) -> DatedNote:
    own = [pick for pick in members if not pick.unit.nested]
    details = [pick.text for pick in members if pick.unit.nested]
    text = told(own) if own else details.pop(0)
    who = members[0].unit.heard
    return msgspec.structs.replace(note, text=f"{who}: {text}" if who else text, details=details)


def _headed(note: DatedNote) -> DatedNote:
    """The note under the date of its heading as we write it, so that no day has two; any other heading stays as it is."""
    day = _day(note.day) if _ONE_DAY.fullmatch(note.day) else date.min
    return note if day == date.min else msgspec.structs.replace(note, day=show_day(day))


def _ordered(kept: Sequence[DatedNote]) -> Iterator[DatedNote]:
    """Notes of no thread first, then thread by thread as they came up; each by date and time, undated ones first."""
    threads = {"": -1}
    for note in kept:
        threads.setdefault(note.thread, len(threads))
    yield from sorted(
        kept, key=lambda note: (threads[note.thread], _day(note.day), note.day, note.time if note.day else "")
    )


def _day(text: str) -> date:
    """The first date that a Date header names; date.min when there is none."""
    try:
        if found := _DAY.search(text):
            if found[4]:
                return date(int(found[4]), int(found[5]), int(found[6]))
            return date(int(found[3]), month_number(found[1]), int(found[2]))
    except ValueError:  # February 30, or a word that is no month
        return date.min
    return date.min

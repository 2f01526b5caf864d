"""Reflecting: many dated lines become fewer, the important and the new ones first."""

import re
from collections.abc import Iterator, Mapping, Sequence
from datetime import date
from typing import NamedTuple

import msgspec

from om_api.language.calendar import month_number
from om_api.language.telegraphic import clip, one_line, telegraphic
from om_api.language.words import words
from om_workers.llm.base import Request
from om_workers.llm.extractive import cues, notes, patterns, scoring, sittings
from om_workers.llm.extractive.duplicates import without
from om_workers.llm.extractive.notes import DONE, FRAME, HEADER, HIGH, LOW, MIDDLE, DatedNote, counted

DETAIL = (0.95, 0.8, 0.6, 0.4, 0.2)  # the share of the target that each level of compression fills
_LONGEST = (notes.LONGEST, 400, 250, 160, 100)  # characters of a line at each level; of an old one, half of it
_DETAILS = (8, 6, 3, 1, 0)  # nested lines at each level; of an old one, half of them
_LINE_END = 1  # tokens
_START = 4  # tokens at the beginning of a line that a further sentence of it does without
_FIRST = 0.85  # of the room goes to high and done lines first; what they leave, and the rest, to all others
_WEIGHT = {HIGH: 3.0, DONE: 2.5, MIDDLE: 1.0, LOW: 0.4, "": 1.0}
_NEW = 0.75  # lines from here on, in place from old 0 to new 1, are new and keep their details
_DAY = re.compile(r"([A-Za-z]{3})[a-z]*\.? (\d{1,2})\b.*?\b(\d{4})|(\d{4})-(\d\d)-(\d\d)")


class Ranked(NamedTuple):
    """A note, its worth, and where it stands: `place` from oldest 0 to newest 1."""

    worth: float
    place: float
    order: int
    note: DatedNote


def reflect(request: Request) -> str:
    """The observations of a request condensed to its target in our tag format; never empty unless they are."""
    texts = [text for text in (request.previous, *request.observations) if text.strip()]
    if len(texts) > 1 and request.previous in request.observations:
        del texts[0]
    found = [note for text in texts for note in notes.read(text)] or [
        DatedNote(one_line(text)[: notes.LONGEST]) for text in texts
    ]
    lines, known = patterns.apart(found)
    repeated = patterns.find(lines, known)
    level = min(max(request.level, 0), len(DETAIL) - 1)
    room = _room(request, found, level) - sum(_cost(DatedNote(text, MIDDLE)) for text in repeated)
    kept = sittings.joined(_kept(_ranked(without(list(sittings.parted(lines)))), level, room)) if lines else []
    closing = [DatedNote(text, MIDDLE) for text in repeated]
    block = notes.write([*_ordered(kept), *closing])
    return "\n".join(filter(None, ["<observations>", block, "</observations>"]))


def _room(request: Request, found: Sequence[DatedNote], level: int) -> int:
    """Tokens to fill: the level's share of the target, or of the input when there is no target or it is larger."""
    size = sum(_cost(note) for note in found) + HEADER * len({(note.thread, note.day) for note in found})
    if not request.target_tokens:
        return size if not level else int(size * DETAIL[level])
    return int(request.target_tokens * DETAIL[level]) - counted(FRAME)


def _cost(note: DatedNote) -> int:
    return sum(counted(line) + _LINE_END for line in note.lines())


def _ranked(lines: Sequence[DatedNote]) -> list[Ranked]:
    bags = [words(note.text) for note in lines]
    weight = scoring.weights(bags)
    last = max(len(lines) - 1, 1)
    return [
        Ranked(_worth(note, bag, weight) * (1 + index / last), index / last, index, note)
        for index, (note, bag) in enumerate(zip(lines, bags, strict=True))
    ]


def _worth(note: DatedNote, bag: list[str], weight: Mapping[str, float]) -> float:
    return _WEIGHT[note.priority] * scoring.information(bag, weight) * scoring.bonus(cues.read(note.text, bag))


def _kept(ranked: Sequence[Ranked], level: int, room: int) -> list[DatedNote]:
    """The notes that fit, in their old order: high and done ones first, then the rest by worth; at least one."""
    chosen: dict[int, DatedNote] = {}
    seen: set[tuple[str, ...]] = set()
    best = sorted(ranked, key=lambda one: (-one.worth, one.order))
    first = [one for one in best if one.note.priority in {HIGH, DONE}]
    left = _fill(first, chosen, seen, level, int(room * _FIRST)) + room - int(room * _FIRST)
    _fill([one for one in best if one.order not in chosen], chosen, seen, level, left)
    if not chosen:
        top = (first or best)[0]
        chosen[top.order] = _condensed(top, 4, max(3 * room, 40))
    return [chosen[index] for index in sorted(chosen)]


def _fill(best: list[Ranked], chosen: dict[int, DatedNote], seen: set[tuple[str, ...]], level: int, room: int) -> int:
    """Choose what fits into `room` tokens, in the order given; return what is left of them."""
    for one in best:
        note = _condensed(one, level, _LONGEST[level])
        sitting = (note.thread, note.day, note.priority, sittings.speaker(note))
        cost = _cost(note) + HEADER * ((note.thread, note.day) not in seen)
        if sitting in seen:
            cost -= _START
        if cost <= room:
            room -= cost
            chosen[one.order] = note
            seen.add((note.thread, note.day))
            seen.update([sitting] if sitting[-1] else [])
    return room


def _condensed(one: Ranked, level: int, longest: int) -> DatedNote:
    share = 1.0 if one.place >= _NEW or not level else 0.5
    details = one.note.details[: int(_DETAILS[level] * share)]
    text, *details = (
        clip(telegraphic(said, level), int(longest * share)) for said in (one_line(one.note.text), *details)
    )
    return msgspec.structs.replace(one.note, text=text, details=details)


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

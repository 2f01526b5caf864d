"""Observing: the sentences of a conversation that are worth a note, within a budget."""

from __future__ import annotations

import heapq
import math
from collections import Counter
from typing import TYPE_CHECKING, NamedTuple

from om_api.weights import count_message
from om_workers.llm.extractive import cues, notes, scoring, task
from om_workers.llm.extractive.dates import Clock, annotate, show
from om_workers.llm.extractive.notes import Note
from om_workers.llm.extractive.units import units
from om_workers.llm.extractive.words import clip, telegraphic, tokens

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from om_api.values import Message
    from om_workers.llm.base import Request
    from om_workers.llm.extractive.units import Unit

LEAST = 60  # tokens an answer may always have, however short the conversation
_PREFIX = 12  # tokens of `* x (00:00) User: ` and its line end
_HEADER = 10  # tokens of `Date: Jan 00, 2000` and its line end
_JOINT = 2  # tokens of `; `, and of `User: ` now and then
_FRAME = 10  # tokens of the tags around all of it
_LONGEST = 220  # characters of one sentence
_LINE = 480  # characters of the sentences joined into one line
_COST = 0.8  # how much a line's length counts against it, beside the length penalty of its score
_PLENTY, _SOME = 0.6, 0.35  # shares of the original's tokens from which nothing, or only articles, must go
_ROUNDS = 4
TERSEST = 3  # the level of telegraphic style at which words that carry nothing, and times of day, go
_MISSES = 60  # sentences too long for what is left before we stop looking
_LEAST_WORTH = 0.05  # of the best sentence's score: below it nothing is noted, whatever room is left
_TOGETHER = 600_000  # ms within which the results of one tool stand under one line
_SITTING = 3_600_000  # ms within which what is said stands in one line, as long as that can be read


class Pick(NamedTuple):
    """A chosen sentence as it will be written."""

    unit: Unit
    priority: str
    text: str


def observe(request: Request) -> str:
    """The observations of a request's messages in our tag format; an empty block when nothing is worth noting."""
    if request.threads:
        return _by_thread(request)
    block, ending = _answer(request.messages, request.target_tokens, Clock(request.timezone))
    return "\n".join(filter(None, ["<observations>", block, "</observations>", ending]))


def _by_thread(request: Request) -> str:
    """An answer for each thread, in a section of its own; of the size wanted each has as much as it has to tell."""
    sizes = {name: _size(messages) for name, messages in request.threads.items()}
    share = request.target_tokens / max(1, sum(sizes.values()))
    lines = ["<observations>"]
    for name, messages in request.threads.items():
        answer = _answer(messages, math.ceil(share * sizes[name]), Clock(request.timezone))
        lines += [f'<thread id="{name}">', *filter(None, answer), "</thread>"]
    return "\n".join([*lines, "</observations>"])


def _answer(messages: Iterable[Message], wanted: int, clock: Clock) -> tuple[str, str]:
    """The notes of messages in `wanted` tokens (0: a tenth of theirs), and the sections that follow them."""
    messages = sorted(messages, key=lambda message: message.at)
    found = units(messages)
    ending = task.ending(messages, found)
    whole = _size(messages)
    size = wanted or max(LEAST, whole // 10)
    level = _level(size / max(whole, 1))
    room = size - tokens(ending) - _FRAME
    chooser, picks, text = Chooser(found, clock, room, level), list[Pick](), ""
    for _ in range(_ROUNDS):  # what lines share is known when they are written: the room they leave is used
        chooser.room = room - tokens(text)
        if not (more := chooser.choose(must=not picks)):
            break
        picks = sorted([*picks, *more], key=lambda pick: pick.unit.order)
        text = notes.write(_notes(picks, clock, timed=level < TERSEST))
    return text, ending


def _size(messages: Iterable[Message]) -> int:
    return sum(count_message(message, tokens) for message in messages)


def _level(share: float) -> int:
    """How terse notes are that may have this share of what they note."""
    return 0 if share >= _PLENTY else 2 if share >= _SOME else TERSEST


class Chooser:
    """Picks units by gain until `room` tokens are full; what repeats a picked one gains less.

    Gains only fall, so a unit whose gain was looked at again and is still the highest is the best one (lazy greedy).
    """

    def __init__(self, found: Sequence[Unit], clock: Clock, room: int, level: int) -> None:
        self.found, self.clock, self.room, self.level = found, clock, room, level
        self.texts = [clip(unit.text if unit.label else telegraphic(unit.text, level), _LONGEST) for unit in found]
        self.costs = [tokens(text) for text in self.texts]
        self.weight = scoring.weights([unit.words for unit in found])
        self.seen: Counter[str] = Counter()
        self.days: set[str] = set()
        self.lines: set[tuple[int, str]] = set()
        scoring.rank(found, self.weight)
        self.heap = [(-self._gain(place), place) for place in range(len(found))]
        heapq.heapify(self.heap)

    def choose(self, *, must: bool) -> list[Pick]:
        """Picks, best first, of what was not picked before; at least one if they `must` and there is anything to pick."""
        heap = self.heap
        picks: list[Pick] = []
        missed: list[tuple[float, int]] = []
        least = max((unit.score for unit in self.found), default=0.0) * _LEAST_WORTH
        while heap and len(missed) < _MISSES:
            gain, place = heapq.heappop(heap)
            if (now := -self._gain(place)) > gain and heap and now > heap[0][0]:
                heapq.heappush(heap, (now, place))
            elif self.found[place].score < least:
                continue
            elif (pick := self._fit(place, must=must and not picks)) is not None:
                picks.append(pick)
            else:
                missed.append((gain, place))
        for miss in missed:
            heapq.heappush(heap, miss)
        return picks

    def _gain(self, place: int) -> float:
        unit = self.found[place]
        fresh = math.fsum(
            self.weight.get(word, 0.0) * math.pow(scoring.DECAY, self.seen[word]) for word in set(unit.words)
        )
        whole = math.fsum(self.weight.get(word, 0.0) for word in set(unit.words)) or 1.0
        return unit.score * fresh / whole / math.pow((_PREFIX if unit.label else _JOINT) + self.costs[place], _COST)

    def _fit(self, place: int, *, must: bool) -> Pick | None:
        """Make the line if it fits, and take its room; `must` makes it fit."""
        unit = self.found[place]
        day = self.clock.at(unit.at).date()
        text = annotate(self.texts[place], day, briefly=self.level == TERSEST)
        pick = Pick(unit, priority(unit), text)
        line = (unit.at // _SITTING, pick.priority + _label(unit))
        start = tokens(unit.label) + _PREFIX if unit.label or line not in self.lines else _JOINT
        cost = tokens(text) + start + _HEADER * (show(day) not in self.days)
        if cost > self.room and not must:
            return None
        self.room -= cost
        self.lines.add(line)
        self.days.add(show(day))
        self.seen.update(set(unit.words))
        return pick


def priority(unit: Unit) -> str:
    """The mark of a unit: what the user is, wants and decided, and what failed, is high; what is finished is done."""
    if unit.failed:
        return notes.HIGH
    if unit.cues.done:
        return notes.DONE
    return _of_user(unit) if unit.role == "user" else notes.MIDDLE


def _of_user(unit: Unit) -> str:
    found = unit.cues
    if found.asks:
        return notes.MIDDLE
    if found.unsure or (unit.pasted and not found.own):
        return notes.LOW
    if found.strong or (found.first and (found.numbers or found.time)):
        return notes.HIGH
    return notes.MIDDLE if found.first or cues.asked(unit.text, unit.words) else notes.LOW


def _notes(picks: Iterable[Pick], clock: Clock, *, timed: bool = True) -> list[Note]:
    """One note for what is said within ten minutes and of one priority; results of one tool are nested under the first."""
    made: list[Note] = []
    lines: dict[tuple[str, str], _Line] = {}
    before: Pick | None = None
    for pick in picks:
        unit, at = pick.unit, clock.at(pick.unit.at)
        if unit.label and before and before.priority == pick.priority and _together(before.unit, unit):
            made[-1].details.append(pick.text)
        elif not unit.label and (line := lines.get((pick.priority, _label(unit)))) and line.takes(pick, show(at)):
            line.add(pick)
        else:
            time = f"{at:%H:%M}" if timed or unit.label else ""
            made.append(Note(f"{_label(unit)}: {pick.text}", pick.priority, time, show(at), details=[]))
            if not unit.label:
                lines[pick.priority, _label(unit)] = _Line(made[-1], unit)
        before = pick
    return made


class _Line:
    """A note that grows by what is said soon after, as long as it can be read at a glance."""

    def __init__(self, note: Note, first: Unit) -> None:
        self.note, self.first = note, first

    def takes(self, pick: Pick, day: str) -> bool:
        """Whether a further sentence belongs into it."""
        soon = day == self.note.day and pick.unit.at - self.first.at < _SITTING
        return soon and len(self.note.text) + len(pick.text) <= _LINE

    def add(self, pick: Pick) -> None:
        """Append a sentence."""
        self.note.text = f"{self.note.text.rstrip('.')}; {pick.text}"


def _together(before: Unit, unit: Unit) -> bool:
    return bool(unit.label) and before.label == unit.label and unit.at - before.at < _TOGETHER


def _label(unit: Unit) -> str:
    who = unit.speaker or unit.label or unit.role.capitalize()
    return f"{who} asked" if unit.role == "user" and unit.cues.asks else who

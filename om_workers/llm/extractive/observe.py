"""Observing: the sentences of a conversation that are worth a note, within a budget."""

from __future__ import annotations

import heapq
import math
from collections import Counter
from itertools import groupby
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
_PREFIX = len("* x (00:00) User: \n")
_HEADER = len("Date: Jan 00, 2000\n")
_FRAME = len("<observations>\n\n</observations>\n")
_LONGEST = 220  # characters of one sentence
_LINE = 300  # characters of the sentences of one message joined into one line
_COST = 0.5  # how much a line's length counts against it, beside the length penalty of its score
_MISSES = 60  # sentences too long for what is left before we stop looking
_LEAST_WORTH = 0.05  # of the best sentence's score: below it nothing is noted, whatever room is left
_TOGETHER = 600_000  # ms within which the results of one tool stand under one line


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
    size = wanted or max(LEAST, _size(messages) // 10)
    picks = Chooser(found, clock, size * 4 - len(ending) - _FRAME).choose()
    return notes.write(_notes(sorted(picks, key=lambda pick: pick.unit.order), clock)), ending


def _size(messages: Iterable[Message]) -> int:
    return sum(count_message(message, tokens) for message in messages)


class Chooser:
    """Picks units by gain until `room` characters are full; what repeats a picked one gains less.

    Gains only fall, so a unit whose gain was looked at again and is still the highest is the best one (lazy greedy).
    """

    def __init__(self, found: Sequence[Unit], clock: Clock, room: int) -> None:
        self.found, self.clock, self.room = found, clock, room
        self.weight = scoring.weights([unit.words for unit in found])
        self.seen: Counter[str] = Counter()
        self.days: set[str] = set()
        self.lines: set[tuple[int, str]] = set()
        scoring.rank(found, self.weight)

    def choose(self) -> list[Pick]:
        """The picks, best first; at least one if there is anything to pick."""
        heap = [(-self._gain(unit), place) for place, unit in enumerate(self.found)]
        heapq.heapify(heap)
        picks: list[Pick] = []
        misses, least = 0, max((unit.score for unit in self.found), default=0.0) * _LEAST_WORTH
        while heap and misses < _MISSES:
            gain, place = heapq.heappop(heap)
            if (now := -self._gain(self.found[place])) > gain and heap and now > heap[0][0]:
                heapq.heappush(heap, (now, place))
            elif self.found[place].score < least:
                continue
            elif (pick := self._fit(self.found[place], must=not picks)) is not None:
                picks.append(pick)
            else:
                misses += 1
        return picks

    def _gain(self, unit: Unit) -> float:
        fresh = math.fsum(
            self.weight.get(word, 0.0) * math.pow(scoring.DECAY, self.seen[word]) for word in set(unit.words)
        )
        whole = math.fsum(self.weight.get(word, 0.0) for word in set(unit.words)) or 1.0
        return unit.score * fresh / whole / math.pow(_PREFIX + min(len(unit.text), _LONGEST), _COST)

    def _fit(self, unit: Unit, *, must: bool) -> Pick | None:
        """Make the line if it fits, and take its room; `must` makes it fit."""
        day = self.clock.at(unit.at).date()
        terse = unit.text if unit.label else telegraphic(unit.text)
        text = annotate(clip(terse, _LONGEST), day)
        pick = Pick(unit, priority(unit), text)
        line = (unit.order, pick.priority)
        cost = (
            len(text)
            + (2 if line in self.lines else _PREFIX + len(unit.label))
            + _HEADER * (show(day) not in self.days)
        )
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


def _notes(picks: Iterable[Pick], clock: Clock) -> list[Note]:
    """One note for the sentences of a message of one priority; results of one tool are nested under the first."""
    made: list[Note] = []
    before: Unit | None = None
    for (_, mark), group in groupby(picks, key=lambda pick: (pick.unit.order, pick.priority)):
        members = list(group)
        unit = members[0].unit
        texts = list(_joined([pick.text for pick in members]))
        if before and mark == made[-1].priority and _together(before, unit):
            made[-1].details += texts
            continue
        at = clock.at(unit.at)
        made.append(Note(f"{_label(unit)}: {texts[0]}", mark, f"{at:%H:%M}", show(at), details=texts[1:]))
        before = unit
    return made


def _together(before: Unit, unit: Unit) -> bool:
    return bool(unit.label) and before.label == unit.label and unit.at - before.at < _TOGETHER


def _joined(texts: list[str]) -> Iterator[str]:
    line = ""
    for text in texts:
        if line and len(line) + len(text) > _LINE:
            yield line
            line = ""
        line = f"{line.rstrip('.')}; {text}" if line else text
    yield line


def _label(unit: Unit) -> str:
    if unit.role == "user":
        return "User asked" if unit.cues.asks else "User"
    return unit.label or unit.role.capitalize()

"""Choosing: which sentences are worth their room."""

import heapq
import math
from collections.abc import Sequence

from om_api.language.calendar import LocalTime
from om_api.language.relative_dates import annotate
from om_api.language.telegraphic import clip, telegraphic
from om_api.language.words import words
from om_workers.llm.extractive import scoring
from om_workers.llm.extractive.joining import Pick, Style, label, line_of, priority, speaker
from om_workers.llm.extractive.notes import HEADER, counted
from om_workers.llm.extractive.units import Unit

_LINE = 6  # tokens of `* x ` and `: ` and the line's end, besides the label
_TIME = 5  # tokens of `(00:00) `
_JOINT = 1  # tokens of `; `
_LONGEST = 220  # characters of one sentence
_COST = 0.9  # how much a sentence's tokens count against it
_RICH = 1.1  # what is rich in information is worth more than its parts
_MISSES = 60  # sentences too long for what is left before we stop looking
_LEAST_WORTH = 0.02  # of the best sentence's score: below it nothing is noted, whatever room is left


class Chooser:
    """Picks units by gain until their room is full; what repeats a picked one gains less.

    Gains only fall, so a unit whose gain was looked at again and is still the highest is the best one (lazy greedy).
    """

    def __init__(self, found: Sequence[Unit], clock: LocalTime, style: Style) -> None:
        self.found, self.clock, self.style = found, clock, style
        self.texts = [
            clip(unit.text if unit.label else telegraphic(unit.text, style.level), _LONGEST) for unit in found
        ]
        self.costs = [counted(text) for text in self.texts]
        bags = [frozenset(words(text)) for text in self.texts]
        self.worth = scoring.weights(bags)
        self.carried = [[word for word in bag if word in self.worth] for bag in bags]
        self.price = [math.pow(2 + cost, _COST) for cost in self.costs]
        self.factor = [scoring.bonus(unit.cues, unit.role) * scoring.standing(unit) for unit in found]
        self.days: set[str] = set()
        self.lines: set[tuple[object, ...]] = set()
        self.heap = [(-self._gain(place), place) for place in range(len(found))]
        self.least = -min(self.heap, default=(0.0, 0))[0] * _LEAST_WORTH
        heapq.heapify(self.heap)

    def choose(self, room: int, *, must: bool) -> list[Pick]:
        """Picks for `room` tokens, best first, of what was not picked before; at least one if they `must`."""
        heap = self.heap
        picks: list[Pick] = []
        missed: list[tuple[float, int]] = []
        while heap and len(missed) < _MISSES:
            gain, place = heapq.heappop(heap)
            if (now := -self._gain(place)) > gain and heap and now > heap[0][0]:
                heapq.heappush(heap, (now, place))
            elif -now < self.least:
                break
            elif (cost := self._cost(pick := self._pick(place))) <= room or (must and not picks):
                room -= cost
                picks.append(self._take(pick, place))
            else:
                missed.append((now, place))
        for miss in missed:
            heapq.heappush(heap, miss)
        return picks

    def _gain(self, place: int) -> float:
        fresh = math.fsum(map(self.worth.__getitem__, self.carried[place]))
        return self.factor[place] * math.pow(fresh, _RICH) / self.price[place]

    def _pick(self, place: int) -> Pick:
        unit, text = self.found[place], self.texts[place]
        if self.style.dated:
            text = annotate(text, self.clock.at(unit.at).date(), briefly=self.style.grouped)
        return Pick(unit, priority(unit), text)

    def _cost(self, pick: Pick) -> int:
        unit = pick.unit
        start = _JOINT
        if line_of(pick, self.clock, self.style) not in self.lines:
            start = counted(speaker(unit)) + _LINE if self.style.grouped else counted(label(unit)) + _LINE + _TIME
        return counted(pick.text) + start + HEADER * (self.clock.day(unit.at) not in self.days)

    def _take(self, pick: Pick, place: int) -> Pick:
        for word in self.carried[place]:
            self.worth[word] *= scoring.DECAY
        self.lines.add(line_of(pick, self.clock, self.style))
        self.days.add(self.clock.day(pick.unit.at))
        return pick

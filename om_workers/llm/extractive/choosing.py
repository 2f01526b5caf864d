"""Choosing: which sentences are worth their room."""

import heapq
import math
from collections import defaultdict
from collections.abc import Callable, Sequence
from itertools import pairwise

from om_workers.llm.extractive import scoring
from om_workers.llm.extractive.joining import Pick, label, line_of
from om_workers.llm.extractive.notes import HEADER, counted
from om_workers.llm.extractive.terms import terms
from om_workers.llm.extractive.units import Unit

_LINE = 6  # tokens of `* x ` and `: ` and the line's end, besides the label
_START = 8  # tokens that a sentence takes beside its own: its share of a line, about
_JOINT = 1  # tokens of ` …`
_COST = 0.9  # how much a sentence's tokens count against it
_RICH = 1.1  # what is rich in information is worth more than its parts
_ROUNDS = 4
_MISSES = 60  # sentences too long for what is left before we stop looking


class Chooser:
    """Picks units by gain until their room is full; what repeats a picked one gains less.

    `texts` are the units in short, `factors` what each one's information is worth, `heading` tells under which heading a
    unit will stand, `written` its text as it will be read, `pasted` how many tokens may be of pasted text. Gains only
    fall, so a unit whose gain was looked at again and is still the highest is the best one (lazy greedy).
    """

    def __init__(
        self,
        found: Sequence[Unit],
        texts: Sequence[str],
        factors: Sequence[float],
        *,
        heading: Callable[[Unit], object],
        written: Callable[[Unit, str], str],
        pasted: float = math.inf,
    ) -> None:
        self.pasted = pasted
        self.found, self.texts, self.heading, self.written = found, texts, heading, written
        bags = [list(dict.fromkeys(terms(text))) for text in texts]
        self.worth = scoring.weights(bags)
        self.carried = [[word for word in bag if word in self.worth] for bag in bags]
        self.sizes = [counted(text) for text in texts]
        self.value = [factor / (_START + size) ** _COST for factor, size in zip(factors, self.sizes, strict=True)]
        self.headings: set[object] = set()
        self.lines: set[object] = set()
        self.behind = self._behind()
        first = set(range(len(found))) - {*self.behind.values()}
        self.heap = [(-math.inf, place) for place in sorted(first)]

    def _behind(self) -> dict[int, int]:
        """The next best unit behind each one with the same words: it can only be the best once that one was taken."""
        equal: dict[tuple[str, ...], list[int]] = defaultdict(list)
        for place, bag in enumerate(self.carried):
            equal[tuple(bag)].append(place)
        equal.pop((), None)  # none of these gains anything, whatever its value
        ranked = (sorted(places, key=lambda place: -self.value[place]) for places in equal.values())
        return dict(pair for places in ranked for pair in pairwise(places))

    def choose(self, room: float, *, must: bool) -> list[Pick]:
        """Picks for `room` tokens, best first, of what was not picked before; at least one if they `must`."""
        picks: list[Pick] = []
        missed: list[tuple[float, int]] = []
        while self.heap and len(missed) < _MISSES:
            gain, place = self._best()
            free = math.inf if must and not picks else self._free(place, room)
            pick = self._pick(place, -gain) if self.sizes[place] <= free else None
            if pick and (cost := self._cost(pick)) <= free:
                room -= cost
                self.pasted -= cost * pick.unit.bounded
                picks.append(self._take(pick, place))
            else:
                missed.append((gain, place))
        for miss in missed:
            heapq.heappush(self.heap, miss)
        return picks

    def _best(self) -> tuple[float, int]:
        """The unit of the highest gain, negated, taken off the heap; this is most of the work, so it is one loop."""
        heap, behind, worth = self.heap, self.behind, self.worth.__getitem__
        while True:
            gain, place = heap[0]
            now = -self.value[place] * sum(map(worth, self.carried[place])) ** _RICH
            if now > gain:
                heapq.heapreplace(heap, (now, place))
            if heap[0][1] == place:
                return (
                    heapq.heapreplace(heap, (heap[0][0], behind.pop(place))) if place in behind else heapq.heappop(heap)
                )

    def _pick(self, place: int, gain: float) -> Pick:
        unit = self.found[place]
        return Pick(unit, self.written(unit, self.texts[place]), gain)

    def _free(self, place: int, room: float) -> float:
        return min(room, self.pasted) if self.found[place].bounded else room

    def _cost(self, pick: Pick) -> int:
        unit = pick.unit
        start = _JOINT if line_of(unit) in self.lines else counted(label(unit)) + _LINE
        return counted(pick.text) + start + HEADER * (self.heading(unit) not in self.headings)

    def _take(self, pick: Pick, place: int) -> Pick:
        for word in self.carried[place]:
            self.worth[word] *= scoring.DECAY
        self.lines.add(line_of(pick.unit))
        self.headings.add(self.heading(pick.unit))
        return pick


def filled(chooser: Chooser, room: float, write: Callable[[Sequence[Pick]], str]) -> tuple[list[Pick], str]:
    """Picks and what `write` makes of them, which fits into `room` tokens if it is more than one of them.

    What lines share is known once they are written, and is used again; so is what was estimated too high.
    """
    picks, text = list[Pick](), ""
    for _ in range(_ROUNDS):
        more = chooser.choose(room - counted(text), must=not picks)
        if not more:
            break
        picks += more
        text = write(picks)
    while len(picks) > 1 and counted(text) > room:
        picks.pop()
        text = write(picks)
    return picks, text

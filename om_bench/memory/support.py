"""Support: which questions a context has the evidence for, by the words that question, answer and evidence share.

No model is asked, so equal contexts have equal scores, and a context can only be given credit for words it holds.
"""

import math
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Sequence
from itertools import chain

from om_bench.harness.stems import stems, telling
from om_bench.harness.talks import Talk, TalkQuestion, seen

ENOUGH = 0.75  # of the weight of a turn's key
LINES, WORDS = 3, 60  # a window: consecutive lines, and the words of all where it is more than one
_EPSILON = 1e-9
_HEADER = "Date:"

Key = frozenset[str]
Line = tuple[list[str | None], frozenset[str]]  # its stems, and those of its date


class Support:
    """The keys of a talk's questions, and how many of them a text supports.

    A question is supported when every turn of its evidence is. The key of a turn is the stems of question and answer
    that occur in it, without the people's names; all its stems where that leaves none. A turn is supported when a window
    of the text holds three quarters of its key, weighted by inverse document frequency.
    """

    def __init__(self, talk: Talk) -> None:
        names = telling(" ".join(talk.people))
        self._turns = {message.id: telling(seen(message)) - names for message in talk.messages}
        counts = Counter(stem for turn in self._turns.values() for stem in turn)
        self._weight = {stem: math.log(1 + len(self._turns) / (count + 1)) for stem, count in counts.items()}
        self.questions = [tuple(self._keys(question, names)) for question in talk.questions]

    def _keys(self, question: TalkQuestion, names: frozenset[str]) -> Iterator[Key]:
        asked = telling(f"{question.text} {question.answer}") - names
        for turn in question.evidence:
            yield (asked & self._turns[turn]) or self._turns[turn]

    def supported(self, text: str) -> frozenset[int]:
        """The places of the questions that a text supports; a question that is asked twice counts twice."""
        held = self.held(text)
        return frozenset(place for place, keys in enumerate(self.questions) if held.issuperset(keys))

    def held(self, text: str, keys: Iterable[Key] | None = None) -> frozenset[Key]:
        """Those of some keys, or of all questions' keys, that a text holds."""
        places: dict[str, list[int]] = defaultdict(list)
        for place, window in enumerate(windows(text)):
            for stem in window:
                places[stem].append(place)
        wanted = set(chain.from_iterable(self.questions) if keys is None else keys)
        return frozenset(key for key in wanted if self._holds(key, places))

    def _holds(self, key: Key, places: dict[str, list[int]]) -> bool:
        found: dict[int, float] = defaultdict(float)
        for stem in sorted(key):
            for place in places.get(stem, ()):
                found[place] += self._weight[stem]
        whole = math.fsum(self._weight[stem] for stem in key)
        return max(found.values(), default=0.0) >= ENOUGH * whole - _EPSILON


def windows(text: str) -> list[frozenset[str]]:
    """The stems of a line and of those behind it, up to three in all, that stand together in sixty words.

    Lines are never cut: one that is longer is a window of its own, whole. A line owns the stems of its date header too.
    """
    lines = list(_lines(text))
    return [_window(lines[first : first + LINES]) for first in range(len(lines))]


def _window(lines: Sequence[Line]) -> frozenset[str]:
    held, used = set[str](), 0
    for number, (words, date) in enumerate(lines):
        used += len(words)
        if number and used > WORDS:
            break
        held.update(date, filter(None, words))
    return frozenset(held)


def _lines(text: str) -> Iterator[Line]:
    date: frozenset[str] = frozenset()
    for line in text.splitlines():
        if line.startswith(_HEADER):
            date = telling(line)
        elif line.strip():
            yield stems(line), date

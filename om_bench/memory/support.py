"""Support: which questions a context has the evidence for, by the words that question, answer and evidence share.

No model is asked, so equal contexts have equal scores, and a context can only be given credit for words it holds.
"""

import math
from collections import Counter, defaultdict
from collections.abc import Iterator

from om_bench.harness.stems import stems, telling
from om_bench.harness.talks import Talk, TalkQuestion

ENOUGH = 0.75  # of the weight of a turn's key
LINES, WORDS = 3, 60  # a window: consecutive lines, and the words in them
_EPSILON = 1e-9
_HEADER = "Date:"

Key = frozenset[str]


class Support:
    """The keys of a talk's questions, and how many of them a text supports.

    A question is supported when every turn of its evidence is. The key of a turn is the stems of question and answer
    that occur in it, without the people's names; all its stems where that leaves none. A turn is supported when a window
    of the text holds three quarters of its key, weighted by inverse document frequency.
    """

    def __init__(self, talk: Talk) -> None:
        names = telling(" ".join(talk.people))
        self._turns = {message.id: telling(message.text()) - names for message in talk.messages}
        counts = Counter(stem for turn in self._turns.values() for stem in turn)
        self._weight = {stem: math.log(1 + len(self._turns) / (count + 1)) for stem, count in counts.items()}
        self.questions = {question: tuple(self._keys(question, names)) for question in talk.questions}

    def _keys(self, question: TalkQuestion, names: frozenset[str]) -> Iterator[Key]:
        asked = telling(f"{question.text} {question.answer}") - names
        for turn in question.evidence:
            yield (asked & self._turns[turn]) or self._turns[turn]

    def supported(self, text: str) -> frozenset[TalkQuestion]:
        """The questions that a text supports."""
        places: dict[str, list[int]] = defaultdict(list)
        for place, window in enumerate(windows(text)):
            for stem in window:
                places[stem].append(place)
        known = {key: self._holds(key, places) for keys in self.questions.values() for key in keys}
        return frozenset(question for question, keys in self.questions.items() if all(known[key] for key in keys))

    def _holds(self, key: Key, places: dict[str, list[int]]) -> bool:
        found: dict[int, float] = defaultdict(float)
        for stem in sorted(key):
            for place in places.get(stem, ()):
                found[place] += self._weight[stem]
        whole = math.fsum(self._weight[stem] for stem in key)
        return max(found.values(), default=0.0) >= ENOUGH * whole - _EPSILON


def windows(text: str) -> Iterator[frozenset[str]]:
    """The stems of up to three lines that stand together in sixty words; a longer line alone, sixty words at a time.

    A line owns the stems of its date header too.
    """
    lines = list(_lines(text))
    for first in range(len(lines)):
        said: list[str | None] = []
        dated: frozenset[str] = frozenset()
        for number, (words, date) in enumerate(lines[first : first + LINES]):
            said, dated = said + words, dated | date
            if number and len(said) > WORDS:
                break
            for start in range(max(1, len(said) - WORDS + 1)):
                yield frozenset(stem for stem in said[start : start + WORDS] if stem) | dated


def _lines(text: str) -> Iterator[tuple[list[str | None], frozenset[str]]]:
    date: frozenset[str] = frozenset()
    for line in text.splitlines():
        if line.startswith(_HEADER):
            date = telling(line)
        elif line.strip():
            yield stems(line), date

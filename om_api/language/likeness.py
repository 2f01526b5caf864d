"""Whether a line of notes tells of something that was said: by the words that both have, rare ones weighing more."""

import math
import re
from collections import Counter
from collections.abc import Iterable

from om_api.language.words import stems

_HALF = 0.5
_FEWEST = 2  # words that two must share, unless one has no more
_SENTENCE = re.compile(r"(?<=[.!?])\s+|\n+")


class Likeness:
    """Tells which lines carry what `said` says: half of the words of the one, by weight, stand in the other.

    A word of `lines` weighs log(1 + lines / lines that have it), so that what stands in every line proves nothing.
    """

    def __init__(self, said: Iterable[str], lines: Iterable[str]) -> None:
        found = [stems(line) for line in lines]
        self._lines, self._met = max(len(found), 1), Counter(stem for some in found for stem in some)
        whole = [stems(text) for text in said]
        self._said = [some for some in whole if some]
        self._sentences = [some for text in said for part in _SENTENCE.split(text) if (some := stems(part))]

    def carries(self, line: str) -> bool:
        """Whether a line tells what was said, or a sentence of it."""
        own = stems(line)
        return any(self._stands(own, some) for some in self._said) or any(
            self._stands(some, own) for some in self._sentences
        )

    def share(self, own: set[str], words: set[str]) -> float:
        """How many of a line's words, by weight, are among others: 0 to 1. Both are stems."""
        return self._weight(own & words) / self._weight(own) if own else 0.0

    def is_alike(self, one: set[str], other: set[str]) -> bool:
        """Whether half of the words of one, by weight, are among the other's. Both are stems."""
        return self._stands(one, other) or self._stands(other, one)

    def _stands(self, inner: set[str], outer: set[str]) -> bool:
        shared = inner & outer
        enough = len(shared) >= min(_FEWEST, len(inner)) and bool(shared)
        return enough and self._weight(shared) >= _HALF * self._weight(inner)

    def _weight(self, some: Iterable[str]) -> float:
        return sum(math.log1p(self._lines / self._met.get(stem, 1)) for stem in some)

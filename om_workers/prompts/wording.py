"""Whether lines of notes are still said: by their words, the rare ones above all, within neighbouring lines of a text."""

import math
from collections import Counter, defaultdict
from collections.abc import Sequence

from om_api.language.words import bare_words, stem, stems
from om_workers.prompts.statements import Statement, bodies, statements

_KEPT = 0.5  # of a line's words, by weight, within neighbouring lines
_NEIGHBOURS = 3
_ROUNDING = 1e-9
_TELLING = 1.5  # a fact's words against others of its line


class Wording:
    """What the words of lines weigh: the rarer among them all, the more; those of a fact more than others of its line."""

    def __init__(self, lines: Sequence[Statement]) -> None:
        self._stems = {line.text: stems(line.text) for line in lines}
        often = Counter(word for line in lines for word in self._stems[line.text])
        self._rarity = {word: math.log(1 + len(lines) / times) for word, times in often.items()}

    def weights(self, line: Statement) -> dict[str, float]:
        """The stems of one of the lines, with their weights."""
        telling = {stem(word) for fact in line.facts for word in bare_words(fact.shown)}
        return {word: self._rarity[word] * (_TELLING if word in telling else 1.0) for word in self._stems[line.text]}


def let_go(notes: Sequence[str], text: str, before: Sequence[str] = ()) -> list[bool]:
    """Of each note whether a text has let go of it: none of its lines is kept; one that says nothing was kept as it is.

    `before` is what else the text was made of.
    """
    lines = [[line for line in statements([note]) if not line.header] for note in notes]
    wording, windows = (
        Wording([*statements(before), *(line for some in lines for line in some)]),
        Windows([*bodies(text)]),
    )
    weights = [[weights for line in some if (weights := wording.weights(line))] for some in lines]
    return [bool(some) and not any(map(windows.hold, some)) for some in weights]


class Windows:
    """Which words stand together in neighbouring lines of an answer."""

    def __init__(self, lines: Sequence[str]) -> None:
        self._places: dict[str, set[int]] = defaultdict(set)
        for at, line in enumerate(lines):
            for word in stems(line):
                self._places[word].update(range(at, at + _NEIGHBOURS))

    def hold(self, weights: dict[str, float]) -> bool:
        """Whether any three neighbouring lines hold half of the weights.

        Looks only where the rarest words are, as many of them as the others cannot make up for: notes of thousands of
        lines in the same words would take minutes otherwise.
        """
        left = sum(weights.values())
        least = (_KEPT - _ROUNDING) * left
        found = {word: self._places.get(word, set()) for word in weights}
        likely = set[int]()
        for word in sorted(weights, key=lambda word: len(found[word])):
            if left < least:
                break
            likely |= found[word]
            left -= weights[word]
        return not weights or any(
            sum(weight for word, weight in weights.items() if at in found[word]) >= least for at in likely
        )

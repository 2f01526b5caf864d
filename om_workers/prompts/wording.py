"""Whether lines of notes are still said: by their words, the rare ones above all, within neighbouring lines of a text."""

import math
from collections import Counter, defaultdict
from collections.abc import Sequence
from itertools import islice

from om_api.domain.texts.normal_forms import normalize
from om_api.language.words import stems
from om_api.recall.wording import is_unparted, pieces, words_of
from om_workers.prompts.statements import Statement, bodies, statements

_KEPT = 0.5  # of a line's words, by weight, within neighbouring lines
_NEIGHBOURS = 3
_ROUNDING = 1e-9
_MOST_PLACES = 200  # looked at for each line
_TELLING = 1.5  # a fact's words against others of its line
_BEYOND_LATIN = "\u0370"  # the first letter of another script
_STEM = 6  # characters of its words that are compared


def terms(text: str) -> set[str]:
    """The stems of the words of a line; text in scripts without blanks, and in Hangul, as pairs of characters."""
    if text.isascii():
        return stems(text)
    found = set[str]()
    for word in words_of(text):
        if word[0] >= _BEYOND_LATIN:
            found.update(piece[:_STEM] for piece in pieces(word) if len(piece) > 1 or is_unparted(word))
        else:
            found |= stems(normalize("NFC", word))
    return found


class Wording:
    """What the words of lines weigh: the rarer among them all, the more; those of a fact more than others of its line."""

    def __init__(self, lines: Sequence[Statement]) -> None:
        self._stems = {line.text: terms(line.text) for line in lines}
        often = Counter(word for line in lines for word in self._stems[line.text])
        self._rarity = {word: math.log((1 + len(lines)) / times) for word, times in often.items()}

    def weights(self, line: Statement) -> dict[str, float]:
        """The stems of one of the lines, with their weights."""
        telling = {word for fact in line.facts for word in terms(fact.shown)}
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
        self._lines = set[frozenset[str]]()
        for at, line in enumerate(lines):
            found = terms(line)
            self._lines.add(frozenset(found))
            for word in found:
                self._places[word].update(range(at, at + _NEIGHBOURS))

    def hold(self, weights: dict[str, float]) -> bool:
        """Whether any three neighbouring lines hold half of the weights.

        Looks at lines with the rarest words first, at most 200 places, so that the work is linear in the size of the
        notes. A line of exactly these words is always found.
        """
        if not weights or frozenset(weights) in self._lines:
            return True
        left = sum(weights.values())
        least = (_KEPT - _ROUNDING) * left
        found = {word: self._places.get(word, set()) for word in weights}
        likely = set[int]()
        for word in sorted(weights, key=lambda word: len(found[word])):
            # the words that follow cannot make up half
            if left < least or len(likely) >= _MOST_PLACES:
                break
            likely.update(islice(found[word], _MOST_PLACES))
            left -= weights[word]
        return any(sum(weight for word, weight in weights.items() if at in found[word]) >= least for at in likely)

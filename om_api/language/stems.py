"""Stems: what the forms of a word have in common."""

from __future__ import annotations

import re

from om_api.language.words import EMPTY, FIGURES, bare_words

_ENDING = re.compile(r"(?:ations?|ments?|ings?|ions?|edly|ies|ied|ers?|ed|es|ly|s|e|y)$")
_STEM = 6  # characters: what follows is mostly grammar
_SHORTEST = 3
NUMBERS = FIGURES | {"thirty": "30", "forty": "40", "fifty": "50", "hundred": "100", "thousand": "1000", "dozen": "12"}


def stem(word: str) -> str:
    """The part that inflected forms of a word share, as a rule: `moving`, `moved` and `moves` are `mov`."""
    if word in NUMBERS:
        return NUMBERS[word]
    short = _ENDING.sub("", word) if len(word) > _SHORTEST else word
    return (short if len(short) >= _SHORTEST else word)[:_STEM]


def stems(text: str) -> set[str]:
    """The stems of the words that carry something."""
    return {stem(word) for word in bare_words(text) if word not in EMPTY and (len(word) >= _SHORTEST or word.isdigit())}

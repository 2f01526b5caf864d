"""Stems: what the forms of a word have in common."""

from __future__ import annotations

import re

from om_api.language.calendar import MONTHS
from om_api.language.words import EMPTY, FIGURES, FUNCTION_WORDS, bare_words, word_set

_ENDING = re.compile(r"(?:ations?|ments?|ings?|ions?|edly|ies|ied|ers?|ed|es|ly|s|e|y)$")
_ASCII_WORD = re.compile(r"([a-z0-9]+)(?:'[a-z]+)?")
_STEM = 6  # characters: what follows is mostly grammar
_SHORTEST = 3
NUMBERS = FIGURES | {"thirty": "30", "forty": "40", "fifty": "50", "hundred": "100", "thousand": "1000", "dozen": "12"}
_SAME = FIGURES | {month.lower(): month[:3].lower() for month in MONTHS} | {"sept": "sep"}
_STOP = FUNCTION_WORDS | word_set(
    """again all aren both d didn doesn don done down from having just ll m more most must no not off other over re s
    same shall t ve wasn whom whose yes"""
)


def stem(word: str) -> str:
    """The part that inflected forms of a word share, as a rule: `moving`, `moved` and `moves` are `mov`."""
    if word in NUMBERS:
        return NUMBERS[word]
    short = _ENDING.sub("", word) if len(word) > _SHORTEST else word
    return (short if len(short) >= _SHORTEST else word)[:_STEM]


def stems(text: str) -> set[str]:
    """The stems of the words that carry something."""
    return {stem(word) for word in bare_words(text) if word not in EMPTY and (len(word) >= _SHORTEST or word.isdigit())}


def stemmable(text: str) -> list[str | None]:
    """The words of a text as a stemmer takes them, None for a stop word; number words are figures, months their three letters."""
    found = _ASCII_WORD.findall(text.replace("’", "'").lower())
    return [None if word in _STOP else _SAME.get(word, word) for word in found]

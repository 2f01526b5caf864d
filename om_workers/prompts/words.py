"""Words as they are compared: without case and endings, and which of them carry nothing."""

from __future__ import annotations

import re

from om_workers.llm.extractive.words import word_set

_WORD = re.compile(r"[^\W_]+(?:['’][^\W_]+)*")
_POSSESSIVE = re.compile(r"['’](?:s|S)?$")
_GROUPING = re.compile(r"(?<=\d)[,'\u2009\u202f\u00a0](?=\d{3}(?!\d))")
_ENDING = re.compile(r"(?:ations?|ments?|ings?|ions?|edly|ies|ied|ers?|ed|es|ly|s|e|y)$")
_STEM = 6  # characters: what follows is mostly grammar
_SHORTEST = 3
EMPTY = word_set(
    """a about above after again all also am an and any are as at away back be because been before being below between
    both but by can could did do does doing done down during each even every few for from further get gets getting got had
    has have having he her here him his how however i if in into is it its itself just keep let like may me might more most
    much must my new no nor not now of off on once one only or other our out over own per please put rather re same say says
    said see she should since so some still stated such tell than that the their them then there these they this those
    through to too told under until up upon us use used user users agent assistant very want wants was we were what when
    where whether which while who whom whose why will with within without would yet you your asked asks"""
)
NUMBERS = {
    word: str(number)
    for number, word in enumerate(
        (
            *(
                "zero",
                "one",
                "two",
                "three",
                "four",
                "five",
                "six",
                "seven",
                "eight",
                "nine",
                "ten",
                "eleven",
                "twelve",
            ),
            *("thirteen", "fourteen", "fifteen", "sixteen", "seventeen", "eighteen", "nineteen", "twenty"),
        )
    )
} | {"thirty": "30", "forty": "40", "fifty": "50", "hundred": "100", "thousand": "1000", "dozen": "12"}


def words(text: str) -> list[str]:
    """The words of a text in lower case, possessives without their ending, numbers without separators."""
    return [_POSSESSIVE.sub("", word) for word in _WORD.findall(_GROUPING.sub("", text.lower()))]


def stem(word: str) -> str:
    """The part that inflected forms of a word share, as a rule: `moving`, `moved` and `moves` are `mov`."""
    if word in NUMBERS:
        return NUMBERS[word]
    short = _ENDING.sub("", word) if len(word) > _SHORTEST else word
    return (short if len(short) >= _SHORTEST else word)[:_STEM]


def stems(text: str) -> set[str]:
    """The stems of the words that carry something."""
    return {stem(word) for word in words(text) if word not in EMPTY and (len(word) >= _SHORTEST or word.isdigit())}

"""Scores: how sure a share is, and how many words an answer has in common with the right one."""

import math
import re
import string
from collections import Counter

import Stemmer

_Z = 1.96  # of 95 of 100 runs
_ARTICLES = re.compile(r"\b(?:a|an|the|and)\b")
_MARKS = str.maketrans("", "", string.punctuation)


def wilson(score: float, of: int) -> tuple[float, float]:
    """Between which shares the true one lies in 95 of 100 cases, where `of` answers had this mean; (0, 1) of none."""
    if not of:
        return 0.0, 1.0
    share, square = _Z**2 / of, _Z / (1 + _Z**2 / of)
    middle = (score + share / 2) / (1 + share)
    half = square * math.sqrt(score * (1 - score) / of + share / (4 * of))
    return max(0.0, middle - half), min(1.0, middle + half)


def f1(answer: str, right: str, kind: str = "") -> float:
    """LoCoMo's own measure: the harmonic mean of precision and recall of stemmed words, without articles and punctuation.

    Of category 1 each part between commas counts for itself, by the best part of the answer; of category 3 only what stands
    before a semicolon.
    """
    if kind == "category 1":
        parts, said = right.split(","), answer.split(",")
        return sum(max(_f1(each, part) for each in said) for part in parts) / len(parts)
    return _f1(answer, right.split(";", maxsplit=1)[0] if kind == "category 3" else right)


def _f1(answer: str, right: str) -> float:
    said, wanted = _words(answer), _words(right)
    common = (Counter(said) & Counter(wanted)).total()
    return 2 * common / (len(said) + len(wanted)) if common else 0.0


def _words(text: str) -> list[str]:
    plain = _ARTICLES.sub(" ", text.lower().replace(",", "").translate(_MARKS))
    return [str(word) for word in Stemmer.Stemmer("porter").stemWords(plain.split())]

"""Scores: how much a sentence is worth keeping."""

import math
from collections import Counter
from collections.abc import Collection, Sequence

from om_api.language.words import STOP
from om_workers.llm.extractive.cues import Cues
from om_workers.llm.extractive.units import Unit

DECAY = 0.8
_OF_ANY = {
    "error": 0.3, "advice": 0.3, "quoted": 1.2, "done": 0.3, "time": 0.6, "deadline": 0.3, "codes": 0.5, "numbers": 0.6,
    "names": 0.4,
}  # fmt: skip
_OF_USER = _OF_ANY | {
    "own": 0.4, "tells": 0.3, "ours": 0.3, "kin": 0.7, "past": 0.2, "preference": 0.2, "favourite": 0.6, "change": 0.3,
    "decision": 0.3, "event": 0.3, "unsure": 0.3, "to_you": -0.2, "reacts": -0.35, "stresses": -0.35, "feels": -0.5,
    "vague": -0.2,
}  # fmt: skip
_COUNTED_OF_ANY = [(Cues._fields.index(name), worth) for name, worth in _OF_ANY.items()]
_COUNTED_OF_USER = [(Cues._fields.index(name), worth) for name, worth in _OF_USER.items()]
_MOST = 3
_NUMBER = 0.5  # a number is rare by nature
_ROLE = {"user": 1.0, "tool": 0.6, "assistant": 0.4, "system": 0.1}
_PASTED = {"user": 0.05, "tool": 0.05, "assistant": 0.3, "system": 0.05}
_ASKED = 0.6  # so is what only introduces something: `here is the list:`
_ASIDE = 0.6  # what stands in brackets: an attached picture, in words
_FAILED = 2.0
_ANSWER = 0.1
_PLAIN = {"user": 1.0, "tool": 1.0, "assistant": 0.3, "system": 0.3}  # neither a fact nor a result


def weights(documents: Sequence[Collection[str]]) -> dict[str, float]:
    """The inverse document frequency of every word that is no stop word: ln(1 + n / documents that hold it)."""
    counts: Counter[str] = Counter()
    for document in documents:
        counts.update(set(document))
    size = len(documents)
    return {
        word: math.log(1 + size / count) * (_NUMBER if word[0].isdigit() else 1.0)
        for word, count in counts.items()
        if word not in STOP
    }


def bonus(found: Cues, role: str = "user") -> float:
    """The factor that a sentence's cues add to its information; only a user's words tell of the user."""
    counted = _COUNTED_OF_USER if role == "user" else _COUNTED_OF_ANY
    factor = 1.0
    for place, worth in counted:
        if shown := found[place]:
            factor *= 1 + worth * min(shown, _MOST)
    return factor


def standing(unit: Unit) -> float:
    """The factor of who said it, and how: the user first, what an assistant explains later, pasted text last."""
    factor = _ROLE[unit.role] * (_ASKED if unit.cues.asks or unit.cues.leads else 1.0)
    if unit.failed:
        return factor * _FAILED
    if unit.pasted and not (unit.role == "user" and unit.cues.own):
        factor *= _PASTED[unit.role]
    factor *= _ASIDE if unit.text.startswith("[") else 1.0
    if not _concrete(unit):
        return factor * _PLAIN[unit.role]
    return factor * (1 + _ANSWER * unit.answers)


def _concrete(unit: Unit) -> bool:
    found = unit.cues
    if unit.role == "user":
        return bool(found.numbers or found.error or found.done or found.strong or found.time)
    return bool(found.numbers or found.done or found.advice or found.promises)

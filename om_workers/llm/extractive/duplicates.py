"""Duplicates: lines that say again what a newer line of the same thread says."""

from collections.abc import Iterable, Sequence

from om_api.domain.note_lines import split_source
from om_api.language.words import STOP, word_set
from om_workers.llm.extractive import scoring
from om_workers.llm.extractive.cues import specifics
from om_workers.llm.extractive.notes import DatedNote
from om_workers.llm.extractive.terms import terms

_ALIKE = 0.8  # words two lines share, of all the words of both
_RAREST = 3  # words under which a line is found again
_LOOKED_AT = 8  # newest lines compared under each of them, so that no pass is quadratic
_NOT = word_set("not no never don't won't can't cannot isn't doesn't without stop")


def without(lines: Sequence[DatedNote]) -> list[DatedNote]:
    """The lines, oldest first, without those that a newer one of their thread repeats.

    Lines that differ in a number, a name of a file or a negation are never taken for the same, nor are lines of which other
    memories are the source: what one of them takes back must not be the only line that says it.
    """
    bags = [frozenset(terms(note.text)) for note in lines]
    weight = scoring.weights(bags)
    shelf: dict[tuple[str, str, str], list[int]] = {}
    kept: list[int] = []
    for index in range(len(lines) - 1, -1, -1):
        of = lines[index].thread, split_source(lines[index].text)[0]
        keys = [(*of, word) for word in _rarest(bags[index], weight)]
        others = {other for key in keys for other in shelf.get(key, [])[-_LOOKED_AT:]}
        if not any(_same(lines[index], lines[other], bags[index], bags[other]) for other in others):
            kept.append(index)
            for key in keys:
                shelf.setdefault(key, []).append(index)
    return [lines[index] for index in reversed(kept)]


def _rarest(bag: Iterable[str], weight: dict[str, float]) -> list[str]:
    return sorted(bag, key=lambda word: (-weight.get(word, 0.0), word))[:_RAREST]


def _same(one: DatedNote, other: DatedNote, bag: frozenset[str], words_of_other: frozenset[str]) -> bool:
    if bag & _NOT != words_of_other & _NOT or set(specifics(one.text)) != set(specifics(other.text)):
        return False
    if one.details and one.details != other.details:
        return False
    mine, theirs = (bag - STOP) or bag, (words_of_other - STOP) or words_of_other
    return len(mine & theirs) >= _ALIKE * len(mine | theirs)

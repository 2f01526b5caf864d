"""Mutants of a Lua script: conditions decided beforehand, sides of an `and` or `or` dropped, flags left out, other values."""

from collections.abc import Iterator
from itertools import pairwise

from mutants.lua import Expression, Side, Token, expressions, tokens
from mutants.lua_values import value_changes
from mutants.mutant import Change, Mutant, abridged, name_all, without

_FLAGS = {"'NX'", "'XX'", "'GT'", "'LT'", "'REV'"}  # conditions that the server checks


def lua_mutants(path: str, source: str) -> list[Mutant]:
    """Every mutant of a script."""
    words = tokens(source)
    changes = [*_flags(words), *value_changes(source, words)]
    for found in expressions(words):
        changes += _decided(source, found)
        changes += _dropped(source, found)
    return name_all(path, source, changes)


def _flags(words: list[Token]) -> Iterator[Change]:
    for comma, word in pairwise(words):
        if word.text in _FLAGS and comma.text == ",":
            yield Change(comma.start, word.stop, "", f"without {word.text}")


def _decided(source: str, found: Expression) -> Iterator[Change]:
    """A condition is always false, or always true; a loop that never ends would only show that tests have a time limit."""
    if found.is_condition:
        text = abridged(source[found.start : found.stop])
        for word in ("false",) if found.after in {"while", "until"} else ("false", "true"):
            yield Change(found.start, found.stop, word, f"{found.after} {text} -> {word}")
    else:
        for side in _compared(found):
            for word in ("false", "true"):
                text = abridged(source[side.start : side.stop])
                yield Change(side.start, side.stop, word, f"{text} -> {word}")


def _compared(found: Expression) -> list[Side]:
    # in a value a comparison with nothing beside it; beside `and` or `or` dropping it says the same
    (first, *more), *others = found.anyof
    return [first] if first.compares and not more and not others else []


def _dropped(source: str, found: Expression) -> Iterator[Change]:
    whole = source[found.start : found.stop]
    for group in found.anyof:
        if len(found.anyof) > 1:
            yield _drop(
                source, whole, [(some[0].start, some[-1].stop) for some in found.anyof], found.anyof.index(group)
            )
        if len(group) > 1:
            for n in range(len(group)):
                yield _drop(source, whole, [(side.start, side.stop) for side in group], n)


def _drop(source: str, whole: str, places: list[tuple[int, int]], n: int) -> Change:
    """Leave out the n-th of several places, and the word that joins it to its neighbour."""
    start, stop = places[n]
    says = without(source[start:stop], whole)
    if n + 1 < len(places):
        return Change(start, places[n + 1][0], "", says)
    return Change(places[n - 1][1], stop, "", says)

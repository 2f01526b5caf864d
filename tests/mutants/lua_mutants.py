"""Mutants of a Lua script: conditions decided beforehand, sides of an `and` or `or` dropped, flags left out, other values."""

from collections.abc import Iterator
from itertools import pairwise

from mutants.lua import Expression, Side, Token, expressions, past, tokens
from mutants.mutant import COMPARED, EXTREMES, LIFETIMES, Change, Mutant, abridged, lifetimes, name_all, others, without

CLOCK = "tonumber(time[1]) * 1000 + math.floor(tonumber(time[2]) / 1000)"


def value_changes(source: str, words: list[Token]) -> Iterator[Change]:
    """Every change of a value in a script."""
    for at, word in enumerate(words):
        line = _line(source, word.start)
        for text in [] if CLOCK in line else _others(words, at):
            yield Change(word.start, word.stop, text, f"{abridged(line)}: {word.text} -> {text}")
        if word.kind == "string" and word.text.strip("'") in LIFETIMES:
            yield from _lifetimes(source, words, at)


def _others(words: list[Token], at: int) -> list[str]:
    word = words[at]
    if word.kind == "number" and not _is_slot(words, at):
        return others(float(word.text) if "." in word.text else int(word.text, 0))
    if word.text in EXTREMES and words[at - 1].text == ".":
        return [EXTREMES[word.text]]
    other = COMPARED.get(word.text.replace("~", "!")) if word.kind == "sign" else None
    return [other.replace("!", "~")] if other else []


def _is_slot(words: list[Token], at: int) -> bool:
    """Whether a number only says which key, argument or part of a table is meant."""
    if words[at - 1].text == "[" and words[at + 1].text == "]":
        return True
    depth = 0
    while at > 1 and words[at].text not in {";", "then", "do", "="}:
        depth += {"]": 1, "[": -1}.get(words[at].text, 0)
        if depth < 0 and words[at - 1].text in {"KEYS", "ARGV"}:
            return True
        at -= 1
    return False


def _lifetimes(source: str, words: list[Token], at: int) -> Iterator[Change]:
    """The last argument of an EXPIRE's call, or the one behind an EX."""
    places = _arguments(words, at)
    if places:
        start, stop = places[-1] if words[at].text.strip("'").endswith("EXPIRE") else places[0]
        text = source[start:stop]
        for other in lifetimes(text, "lua"):
            yield Change(start, stop, other, f"{words[at].text} {abridged(text)} -> {other}")


def _arguments(words: list[Token], at: int) -> list[tuple[int, int]]:
    """Where the arguments behind a word stand, up to the end of its call."""
    commas, at = [at + 1], at + 1
    while words[at].text != ")":
        at = past(words, at)
        if words[at].text == ",":
            commas.append(at)
    return [(words[one + 1].start, words[two - 1].stop) for one, two in pairwise([*commas, at]) if one + 1 < two]


def _line(source: str, at: int) -> str:
    end = source.find("\n", at)
    return source[source.rfind("\n", 0, at) + 1 : end if end >= 0 else None].strip()


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

"""Mutants of the values in a Lua script: its numbers, comparisons, `math.min` and `math.max`, and what EXPIRE is given.

Places are no values: which key or argument is meant, or which part of a reply. The clock is read in the same words everywhere,
which a test compares.
"""

from collections.abc import Iterator
from itertools import pairwise

from mutants.lua import Token, past
from mutants.mutant import Change, abridged
from mutants.values import COMPARED, EXTREMES, LIFETIMES, lifetimes, others

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

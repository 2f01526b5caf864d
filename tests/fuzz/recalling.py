"""P10 from outside: what is kept is found by a word of its own, once, and nothing else is, whatever is under way."""

import json
import re
from collections import Counter
from collections.abc import Iterable
from typing import Any

from fuzz.checker import BrokenError, Held
from fuzz.pieces import pieces, uncounted

_AT_ONCE = 40  # words of one query
_MOST = 100
_WORD = re.compile(
    r"(?<=[a-z]-)\d{4}(?!\w)"
)  # the number of a name, which no other has: a word, unless a text went on at once


def check(om: Any, resource: str, held: Held, ever: Iterable[str]) -> None:
    """Ask for every name that a text of this resource has, and for every one that had: those that are kept are found."""
    kept = {name: some for name, some in pieces(held).items() if not uncounted(held, some)}
    said = {piece.id: set(_WORD.findall(piece.form.text)) for some in kept.values() for piece in some}
    there = {piece.id for some in pieces(held).values() for piece in some} | _set_aside(held)
    words = sorted(
        {word for some in said.values() for word in some} | {word for name in ever for word in _WORD.findall(name)}
    )
    for start in range(0, len(words), _AT_ONCE):
        asked = words[start : start + _AT_ONCE]
        found = _found(om, resource, asked)
        for name, some in said.items():
            if some.intersection(asked) and found[name] != 1 and len(found) < _MOST:
                raise BrokenError(f"{resource}: {name}, which says {sorted(some)}, is found {found[name]} times")
        if odd := sorted(set(found) - there):
            raise BrokenError(f"{resource}: recall finds {odd}, of which nothing is kept")


def _set_aside(held: Held) -> set[str]:
    """The notes that are in a group, which are found with messages."""
    said = (json.loads(member) for members in held.of("reflected").values() for member, _ in members)
    return {each["id"] for each in said if each.get("group")}


def _found(om: Any, resource: str, words: list[str]) -> Counter[str]:
    answer = om.recall(" ".join(words), resource, limit=_MOST, around=0)
    if answer.partial:
        raise BrokenError(f"{resource}: recall says that it is partial: {answer.partial}")
    return Counter(hit.id for hit in answer.hits)

"""Two texts, word by word: what goes in [-brackets-], what comes in {+braces+}, as `git diff --word-diff` writes it."""

import re
from collections.abc import Iterator, Sequence
from difflib import SequenceMatcher

_WORDS = re.compile(r"\s+|\w+|[^\w\s]")
_Opcode = tuple[str, Sequence[str], Sequence[str]]


def word_diff(before: str, after: str) -> list[str]:
    """The lines of both, one below the other; lines that stand in both begin with two blanks, all others with a mark."""
    return [line for kind, old, new in _parts(before.split("\n"), after.split("\n")) for line in _lines(kind, old, new)]


def _lines(kind: str, old: Sequence[str], new: Sequence[str]) -> Iterator[str]:
    if kind == "equal":
        yield from (f"  {line}" for line in new)
    elif kind == "replace" and len(old) == len(new):
        yield from (f"~ {_marked(was, becomes)}" for was, becomes in zip(old, new, strict=True))
    else:
        yield from (f"- [-{line}-]" for line in old)
        yield from (f"+ {{+{line}+}}" for line in new)


def _marked(was: str, becomes: str) -> str:
    words = _parts(_WORDS.findall(was), _WORDS.findall(becomes))
    return "".join(_word(kind, "".join(old), "".join(new)) for kind, old, new in words)


def _word(kind: str, old: str, new: str) -> str:
    if kind == "equal":
        return new
    return (f"[-{old}-]" if old else "") + (f"{{+{new}+}}" if new else "")


def _parts(old: Sequence[str], new: Sequence[str]) -> Iterator[_Opcode]:
    for kind, i, j, k, m in SequenceMatcher(None, old, new).get_opcodes():
        yield kind, old[i:j], new[k:m]

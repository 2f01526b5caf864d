"""Which words of a text are those that were looked for."""

import re
from collections.abc import Collection
from typing import NamedTuple

from om_api.language.words import stem

_WORD = re.compile(r"\w+")


class Marked(NamedTuple):
    """A stretch of a text; `is_match` where it is a word that was looked for."""

    text: str
    is_match: bool


def marked(text: str, matched: Collection[str]) -> list[Marked]:
    """A text in stretches, which together are all of it; words of one stem are the same."""
    wanted = {stem(word.lower()) for phrase in matched for word in _WORD.findall(phrase)}
    found, end = list[Marked](), 0
    for word in _WORD.finditer(text):
        if stem(word[0].lower()) in wanted:
            if word.start() > end:
                found.append(Marked(text[end : word.start()], is_match=False))
            found.append(Marked(word[0], is_match=True))
            end = word.end()
    return [*found, Marked(text[end:], is_match=False)] if end < len(text) else found

"""Counting tokens behind a callable: exactly, by a vocabulary that is in the package, or by an estimate; never over a network.

The vocabulary beside this file is OpenAI's o200k_base, which the library tiktoken fetches and which is under the MIT license.
It is loaded at the first count of a process, within a quarter of a second.

A message that says its tokens is never counted here. One that a plain writer left without them is met again and again
before it is observed: a process remembers what it counted, so it tokenises each text once.
"""

from __future__ import annotations

import gzip
import hashlib
import math
import threading
from collections.abc import Callable, Iterator
from functools import cache
from importlib.resources import files
from itertools import accumulate, pairwise
from typing import TYPE_CHECKING

from om_api.domain.errors import InvalidInputError
from om_api.domain.word_counts import WordCounts

if TYPE_CHECKING:
    from tiktoken import Encoding

KINDS = ("auto", "o200k_base", "estimate")
SLICE = 50_000  # characters; one run of letters or blanks costs more than its length, and a million can fail outright
SHORT = 1_000  # characters; a longer text is told apart by its hash in less time than by its words
REMEMBERED = 20_000  # counts, about 3 MB of them
_VOCABULARY = "o200k_base.gz"  # how many tokens (4 bytes), the length of each in a byte, then the tokens, by rank
_PIECES = (  # what of a text is encoded by itself: tiktoken's own pattern for this vocabulary
    r"[^\r\n\p{L}\p{N}]?[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]*[\p{Ll}\p{Lm}\p{Lo}\p{M}]+(?i:'s|'t|'re|'ve|'m|'ll|'d)?"
    r"|[^\r\n\p{L}\p{N}]?[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]+[\p{Ll}\p{Lm}\p{Lo}\p{M}]*(?i:'s|'t|'re|'ve|'m|'ll|'d)?"
    r"|\p{N}{1,3}| ?[^\s\p{L}\p{N}]+[\r\n/]*|\s*[\r\n]+|\s+(?!\S)|\s+"
)
_LOCK = threading.Lock()


def counter(kind: str = "auto") -> Callable[[str], int]:
    """Return a function that counts the tokens of a text.

    `o200k_base` counts as recent models do, and so does `auto`; both remember what they counted last. `estimate` needs no
    vocabulary. Making a counter loads nothing. Raises InvalidInputError for another kind.
    """
    if kind in {"auto", "o200k_base"}:
        return _ByWords()
    if kind == "estimate":
        return estimate
    raise InvalidInputError(f"token counter {kind!r} is unknown: use one of {', '.join(KINDS)}")


class _ByWords:
    """Counts by what it remembers: of short texts their words, of others the texts themselves."""

    def __init__(self) -> None:
        self._words, self._texts = WordCounts(_count), Remembering(_count)

    def __call__(self, text: str) -> int:
        tokens = self._words.of(text) if len(text) <= SHORT else None
        return self._texts(text) if tokens is None else tokens


class Remembering:
    """A counter that remembers the counts of the last 20,000 texts it was given, not the texts; threads may share it."""

    def __init__(self, count: Callable[[str], int], most: int = REMEMBERED) -> None:
        self._count, self._most = count, most
        self._known: dict[bytes, int] = {}
        self._lock = threading.Lock()

    def __call__(self, text: str) -> int:
        """Count the tokens of a text, or remember them."""
        key = hashlib.blake2b(text.encode("utf-8", "surrogatepass"), digest_size=16).digest()
        known = self._known.get(key)
        return self._remember(key, self._count(text)) if known is None else known

    def _remember(self, key: bytes, tokens: int) -> int:
        with self._lock:
            self._known[key] = tokens
            if len(self._known) > self._most:
                del self._known[next(iter(self._known))]
        return tokens


def estimate(text: str) -> int:
    """Guess the tokens of a text: four ASCII characters to a token, and one for every other character."""
    ascii_only = len(text.encode("ascii", "ignore"))
    return math.ceil(ascii_only / 4) + len(text) - ascii_only


def _count(text: str) -> int:
    encode = _encoding().encode_ordinary
    if len(text) <= SLICE:
        return len(encode(text))
    return sum(len(encode(piece)) for piece in _slices(text))


def _slices(text: str) -> Iterator[str]:
    """Cut a text before a blank where one is near, because a blank begins a token and so the sum stays the same."""
    start = 0
    while len(text) - start > SLICE:
        blank = text.rfind(" ", start + SLICE // 2, start + SLICE)
        end = blank if blank > 0 else start + SLICE
        yield text[start:end]
        start = end
    yield text[start:]


def _encoding() -> Encoding:
    with _LOCK:  # threads that count first would each load it
        return _load()


@cache
def _load() -> Encoding:
    from tiktoken import Encoding  # noqa: PLC0415 -- an agent that counts nothing need not wait for it

    held = gzip.decompress(files(__package__).joinpath(_VOCABULARY).read_bytes())
    first = 4 + int.from_bytes(held[:4])
    ends = [*accumulate(held[4:first], initial=first)]
    ranks = {held[start:end]: rank for rank, (start, end) in enumerate(pairwise(ends))}
    return Encoding("o200k_base", pat_str=_PIECES, mergeable_ranks=ranks, special_tokens={})

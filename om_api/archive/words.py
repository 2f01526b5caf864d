"""The words by which databases find archived messages: the terms of their segment, and marks of our own.

A mark begins with a star, which no term does: `*r…` whose they are, `*i…` the check of a message's id, `*t…` a term that
no database keeps whole, and `*v…` that the words are whole: all that this version of the analysis makes of the messages. What
lacks the last is always found.
"""

import hashlib
import re
from collections.abc import Collection, Iterable, Iterator
from typing import Final, NamedTuple

from om_api.archive.entries import Entry
from om_api.recall.analysis import VERSION
from om_api.recall.segment import Segment, check_of
from om_api.recall.segment_format import SegmentError

WHOLE: Final = f"*v{VERSION}"
_LONGEST: Final = 80
_SIGNS: Final = "[!-~\u00a1-\ud7ff\ue000-\U0010ffff]"
_PLAIN: Final = re.compile(f"{_SIGNS}{{1,{_LONGEST}}}")  # what every database keeps as one word
_ALL_PLAIN: Final = re.compile(f"(?:{_SIGNS}{{1,{_LONGEST}}}\n)*")
_LATEST: Final = 2**60  # a score may be any number, a time is one of 64 bits
_MOST: Final = 600_000  # characters of all words: Postgres keeps less than a megabyte


class Indexed(NamedTuple):
    """What is known of an entry without its body; of messages by their segment, if this version reads it."""

    size: int
    length: int
    languages: tuple[str, ...]
    first_at: int
    last_at: int
    words: str  # with a blank between two


def indexed(entry: Entry) -> Indexed:
    """Read an entry's segment."""
    scores = [int(min(max(score, -_LATEST), _LATEST)) for _, score in entry.members]
    bare = Indexed(len(scores), 0, (), min(scores, default=0), max(scores, default=0), of_resource(entry.resource))
    if entry.kind != "messages":
        return bare._replace(words="")
    try:
        segment = Segment(entry.segment)
    except SegmentError:
        return bare
    times = segment.times()
    return Indexed(
        segment.size,
        segment.length,
        tuple(sorted(segment.languages)),
        min(times, default=bare.first_at),
        max(times, default=bare.last_at),
        _bounded(bare.words, segment),
    )


def of_resource(resource: str) -> str:
    """The mark of whose messages they are, so that nobody's search walks through those of others."""
    return f"*r{_digest(resource)}"


def of_message(name: str) -> str:
    """The mark of a message by its id."""
    return f"*i{check_of(name):x}"


def of_terms(terms: Collection[str]) -> Iterator[str]:
    """Terms as words that no database parts or cuts."""
    return (term if _PLAIN.fullmatch(term) else f"*t{_digest(term)}" for term in terms)


def _bounded(own: str, segment: Segment) -> str:
    """The mark of the resource and all words, or that mark alone where the words are too many: then it is always found."""
    lines = segment.lines()
    said = lines.replace("\n", " ") if _ALL_PLAIN.fullmatch(lines) else " ".join(of_terms(segment.terms()))
    words = " ".join((own, WHOLE, *_ids(segment), said)).rstrip(" ")
    return words if len(words) <= _MOST and len(words.encode()) <= _MOST else own


def _ids(segment: Segment) -> Iterable[str]:
    return (f"*i{segment.check(place):x}" for place in range(segment.size))


def _digest(text: str) -> str:
    return hashlib.blake2b(text.encode("utf-8", "surrogatepass"), digest_size=8).hexdigest()

"""Marking: where in a text the words of a query stand, and the part of a long text where most of them do."""

from collections.abc import Iterator, Sequence
from typing import Final

from om_api.recall.analysis import analyse, asked_pieces, forms, is_anywhere, piece_variants
from om_api.recall.query import Query
from om_api.recall.wording import is_unparted, pieces, spans_of

_LEAD: Final = 5  # one part in so many of an excerpt stands before its first mark
_CUT: Final = "…"


def spans(text: str, query: Query) -> list[tuple[int, int]]:
    """Where the words of a query stand in a text, from one character until before another; in order, none touch."""
    language = analyse(text).language
    asked = dict.fromkeys([*query.words, *asked_pieces(" ".join(query.phrases))])
    sought = frozenset(term for word in asked for term in piece_variants(word, (language,)))
    found = (span for start, _, word in spans_of(text) for span in _within(start, word, sought, language))
    return _merged(found) if sought else []


def _within(start: int, word: str, sought: frozenset[str], language: str) -> Iterator[tuple[int, int]]:
    """The whole word if it is sought, else the parts that are; of an unparted run the pairs or the single characters."""
    if is_unparted(word):
        yield from _of_run(start, word, sought)
        return
    whole, *parts = pieces(word)
    if not sought.isdisjoint(forms(whole, language)):
        yield start, start + len(word)
        return
    low = word.lower()
    for part in parts:
        if not sought.isdisjoint(forms(part, language)):
            at = low.find(part)
            yield (start + at, start + at + len(part)) if at >= 0 else (start, start + len(word))


def _of_run(start: int, run: str, sought: frozenset[str]) -> Iterator[tuple[int, int]]:
    for at in range(len(run)):
        pair = run[at : at + 2]
        if not sought.isdisjoint(term for piece in pieces(pair) for term in forms(piece, "")):
            yield start + at, start + at + len(pair)
        elif any(is_anywhere(term) and term[1:] == run[at] for term in sought):
            yield start + at, start + at + 1


def _merged(found: Iterator[tuple[int, int]]) -> list[tuple[int, int]]:
    merged: list[tuple[int, int]] = []
    for start, end in sorted(found):
        if merged and start <= merged[-1][1]:
            merged[-1] = merged[-1][0], max(end, merged[-1][1])
        else:
            merged.append((start, end))
    return merged


def excerpt(text: str, query: Query, size: int) -> str:
    """At most `size` characters of a text, 8 at least, where most words of the query stand; … stands for what was cut off."""
    if len(text) <= size:
        return text
    start = max(_densest(spans(text, query), size) - size // _LEAD, 0)
    start = min(start, len(text) - size + len(_CUT))
    head, tail = (_CUT if start else ""), text[start:]
    room = max(size - len(head), 1)
    if start:
        cut = tail.find(" ", 0, room // _LEAD)  # no word begins in its middle
        tail = tail[cut + 1 :]
    if len(tail) <= room:
        return head + tail
    kept = tail[: max(room - len(_CUT), 1)]
    return head + (kept.rpartition(" ")[0] or kept) + _CUT


def _densest(marks: Sequence[tuple[int, int]], size: int) -> int:
    """Where the first mark stands of those that most others stand behind, within an excerpt."""
    room = size - size // _LEAD
    ends = [sum(1 for _, end in marks if start <= end <= start + room) for start, _ in marks]
    return marks[ends.index(max(ends))][0] if marks else 0

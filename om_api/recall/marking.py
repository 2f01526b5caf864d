"""Marking: where in a text the words of a query stand, and the part of a long text where most of them do."""

from bisect import bisect_right
from collections.abc import Iterator, Sequence
from functools import cache, partial
from typing import Final

from om_api.recall.analysis import analyse, asked_pieces, forms, is_anywhere, piece_variants
from om_api.recall.query import Query
from om_api.recall.wording import is_unparted, pieces, spans_of

_LEAD: Final = 5  # one part in so many of an excerpt stands before its first mark
_CUT: Final = "…"
_SEARCHED: Final = 32_000  # characters of a long text that an excerpt is chosen from


def spans(text: str, query: Query) -> list[tuple[int, int]]:
    """Where the words of a query stand in a text, from one character until before another; in order, none touch."""
    language = analyse(text).language
    asked = dict.fromkeys([*query.words, *asked_pieces(" ".join(query.phrases))])
    sought = frozenset(term for word in asked for term in piece_variants(word, (language,)))
    within = cache(partial(_within, sought=sought, language=language))
    found = ((at + start, at + end) for at, _, word in spans_of(text) for start, end in within(word))
    return _merged(found) if sought else []


def _within(word: str, sought: frozenset[str], language: str) -> tuple[tuple[int, int], ...]:
    """The whole word if it is sought, else the parts that are; of an unparted run the pairs or the single characters."""
    if is_unparted(word):
        return tuple(_of_run(word, sought))
    whole, *parts = pieces(word)
    if not sought.isdisjoint(forms(whole, language)):
        return ((0, len(word)),)
    places = ((word.lower().find(part), part) for part in parts if not sought.isdisjoint(forms(part, language)))
    return tuple((at, at + len(part)) if at >= 0 else (0, len(word)) for at, part in places)


def _of_run(run: str, sought: frozenset[str]) -> Iterator[tuple[int, int]]:
    for at in range(len(run)):
        pair = run[at : at + 2]
        if not sought.isdisjoint(term for piece in pieces(pair) for term in forms(piece, "")):
            yield at, at + len(pair)
        elif any(is_anywhere(term) and term[1:] == run[at] for term in sought):
            yield at, at + 1


def _merged(found: Iterator[tuple[int, int]]) -> list[tuple[int, int]]:
    merged: list[tuple[int, int]] = []
    for start, end in sorted(found):
        if merged and start <= merged[-1][1]:
            merged[-1] = merged[-1][0], max(end, merged[-1][1])
        else:
            merged.append((start, end))
    return merged


def excerpt(text: str, query: Query, size: int) -> str:
    """At most `size` characters of a text, 8 at least, where most words of the query stand; … marks what was cut off.

    Of a very long text, only 32,000 characters are searched, from where its longest word is first found.
    """
    if len(text) <= size:
        return text
    near = _first(text, query)
    start = max(near + _densest(spans(text[near : near + _SEARCHED], query), size) - size // _LEAD, 0)
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


def _first(text: str, query: Query) -> int:
    """Where the search of a long text begins: at the longest word of the query that it has as written, else its start."""
    if len(text) <= _SEARCHED or len(lowered := text.lower()) != len(text):
        return 0
    words = sorted((*query.words, *query.phrases), key=len, reverse=True)
    return next((place for word in words if (place := lowered.find(word.lower())) >= 0), 0)


def _densest(marks: Sequence[tuple[int, int]], size: int) -> int:
    """Where the first mark stands of those that most others stand behind, within an excerpt."""
    room = size - size // _LEAD
    ends = [end for _, end in marks]
    behind = [bisect_right(ends, start + room) - place for place, (start, _) in enumerate(marks)]
    return marks[behind.index(max(behind))][0] if marks else 0

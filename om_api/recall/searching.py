"""Searching: the messages of several sources that answer a query best."""

import heapq
from collections.abc import Collection, Iterator, Sequence
from itertools import islice
from typing import NamedTuple

from om_api.recall.analysis import asked_pieces, piece_variants
from om_api.recall.loose import Source
from om_api.recall.query import Query
from om_api.recall.ranking import Bm25
from om_api.recall.segment import Postings

WORDS_ALONE = Bm25()
_RAISED = 1.25  # what was said in the days that a query names, beside its words
_Scores = dict[int, float]


class Hit(NamedTuple):
    """A message that answers: its source and its place there, its score, how sure it is (0 to 1), the words it has."""

    source: Source
    place: int
    score: float
    certainty: float
    words: tuple[str, ...]


def search(
    sources: Sequence[Source],
    query: Query,
    *,
    threads: Collection[str] = (),
    roles: Collection[str] = (),
    after: int | None = None,
    before: int | None = None,
    limit: int = 10,
    weighing: Bm25 = WORDS_ALONE,
) -> list[Hit]:
    """The best messages, best first, of two that are equal the newer. Filters are those of the call and of the query.

    How rare a word is, all sources tell, those that are filtered out too. Where the query has phrases, the messages have all
    their words; whether they stand together `query.admits` says of the text.
    """
    asked = _Search(sources, query, weighing)
    kept = _Filter(query, threads, roles, after, before)
    found = ((score, number, place) for number, scores in asked.scored(kept) for place, score in scores.items())
    return [asked.hit(*each) for each in _best(found, sources, limit)]


def _best(
    found: Iterator[tuple[float, int, int]], sources: Sequence[Source], limit: int
) -> list[tuple[float, int, int]]:
    """Equal scores are told apart by time only where it matters."""
    every = list(found)
    if len(every) > limit > 0:
        least = heapq.nlargest(limit, (score for score, _, _ in every))[-1]
        every = [each for each in every if each[0] >= least]
    every.sort(key=lambda each: (-each[0], -sources[each[1]].at(each[2]), each[1], -each[2]))
    return every[: max(limit, 0)]


class _Filter:
    """Which messages may be found at all."""

    def __init__(
        self, query: Query, threads: Collection[str], roles: Collection[str], after: int | None, before: int | None
    ) -> None:
        self._threads = [frozenset(some) for some in (threads, query.threads) if some]
        self._roles = [frozenset(some) for some in (roles, query.roles) if some]
        self._after = max((ms for ms in (after, query.after) if ms is not None), default=None)
        self._before = min((ms for ms in (before, query.before) if ms is not None), default=None)
        self._bare = not self._roles and self._after is None and self._before is None

    def admits(self, source: Source) -> bool:
        """Whether messages of a source may be found."""
        return all(source.thread in some for some in self._threads)

    def of(self, source: Source, scores: _Scores) -> _Scores:
        """Those of the scores whose messages may be found."""
        if self._bare:
            return scores
        return {place: score for place, score in scores.items() if self._is_kept(source, place)}

    def _is_kept(self, source: Source, place: int) -> bool:
        at = source.at(place)
        if (self._after is not None and at < self._after) or (self._before is not None and at >= self._before):
            return False
        return all(source.role(place) in some for some in self._roles)


class _Search:
    """A query asked of all sources."""

    def __init__(self, sources: Sequence[Source], query: Query, weighing: Bm25) -> None:
        needed = asked_pieces(" ".join(query.phrases))
        self._sources, self._query, self._weighing = sources, query, weighing
        self._pieces = list(dict.fromkeys([*query.words, *needed, *query.excluded]))
        self._needed = [self._pieces.index(piece) for piece in needed]
        self._barred = [self._pieces.index(piece) for piece in query.excluded]
        self._plans: dict[frozenset[str], tuple[list[str], list[int]]] = {}
        self._found = [self._postings(source) for source in sources]
        self._size = sum(source.size for source in sources)
        self._average = max(sum(source.length for source in sources) / max(self._size, 1), 1)
        self._worth = [self._worth_of(place) for place in range(len(query.words))]

    def _postings(self, source: Source) -> list[Postings]:
        """Where each piece of the query stands in a source."""
        if source.languages not in self._plans:
            variants = [piece_variants(piece, source.languages) for piece in self._pieces]
            self._plans[source.languages] = ([term for some in variants for term in some], [*map(len, variants)])
        terms, sizes = self._plans[source.languages]
        found = source.postings(terms)
        if len(terms) == len(sizes):
            return found
        each = iter(found)
        return [_joined(list(islice(each, size))) for size in sizes]

    def _worth_of(self, place: int) -> float:
        return self._weighing.rarity(sum(len(found[place]) for found in self._found), self._size)

    def scored(self, kept: _Filter) -> Iterator[tuple[int, _Scores]]:
        """The scores of each source's messages that may be found."""
        for number, source in enumerate(self._sources):
            if kept.admits(source):
                scores = self._scores(number, source)
                if scores:
                    yield number, kept.of(source, self._allowed(number, self._dated(source, scores)))

    def _scores(self, number: int, source: Source) -> _Scores:
        if not self._worth:
            return dict.fromkeys(range(source.size), 0.0) if self._query.periods else {}
        found = [pair for pair in zip(self._worth, self._found[number], strict=False) if pair[1]]
        return self._weighing.scores(found, source.lengths(), self._average) if found else {}

    def _dated(self, source: Source, scores: _Scores) -> _Scores:
        """Raise what was said in the days of the query; without words only that is found."""
        periods = self._query.periods
        if not periods:
            return scores
        then = {place for place in scores if any(start <= source.at(place) < end for start, end in periods)}
        if not self._worth:
            return dict.fromkeys(then, 0.0)
        return {place: score * (_RAISED if place in then else 1) for place, score in scores.items()}

    def _allowed(self, number: int, scores: _Scores) -> _Scores:
        found = self._found[number]
        for piece in self._needed:
            scores = {place: score for place, score in scores.items() if place in found[piece]}
        for piece in self._barred:
            scores = {place: score for place, score in scores.items() if place not in found[piece]}
        return scores

    def hit(self, score: float, number: int, place: int) -> Hit:
        """The hit of a message, with the words it has."""
        found, words = self._found[number], self._query.words
        have = [piece for piece in range(len(words)) if place in found[piece]]
        sure = sum(self._worth[piece] for piece in have) / max(sum(self._worth), 1e-9)
        return Hit(self._sources[number], place, score, sure, tuple(words[piece] for piece in have))


def _joined(found: Sequence[Postings]) -> Postings:
    """Where any of the terms of one piece stands."""
    found = [postings for postings in found if postings]
    if len(found) <= 1:
        return found[0] if found else {}
    joined: dict[int, int] = {}
    for postings in found:
        for place, times in postings.items():
            joined[place] = max(joined.get(place, 0), times)
    return joined

"""Searching: the messages of several sources that answer a query best."""

import heapq
import math
from collections.abc import Collection, Iterator, Mapping, Sequence
from itertools import islice
from typing import Final, NamedTuple

from om_api.recall.analysis import asked_pieces, is_anywhere, piece_variants
from om_api.recall.days import Period
from om_api.recall.loose import Source
from om_api.recall.query import MOST_WORDS, Query
from om_api.recall.ranking import Bm25
from om_api.recall.segment import Postings, Segment
from om_api.recall.vocabulary import Vocabulary

SURE: Final = 0.32
"""The certainty that chance does not reach, for what is shown unasked.

Calibrated on six published talks of LoCoMo, 420 to 690 messages each. Of 2,400 questions about another talk 3.8 % have a hit
of this certainty among their first five (10.6 % with the people's names taken out), of 1,200 messages of another talk 10.7 %.
Of 958 questions about the talk itself 67 % have one; for 51 % it is the evidence, or stands beside it.
"""
_WEIGHING = Bm25()
_CHANCE = 0.5  # what each word of a query adds to what chance finds, in natural logarithms
_THEN = 0.7  # of the worth of a word as rare: that a message was said in the days that a query names
_BESIDE = 0.2  # of the score of the message before and of the one behind: an answer stands beside its question
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
    vocabulary: Vocabulary | None = None,
) -> list[Hit]:
    """The best messages, best first, of two that are equal the newer. Filters are those of the call and of the query.

    How rare a word is, all sources tell, those that are filtered out too. Where the query has phrases, the messages have all
    their words; whether they stand together `query.admits` says of the text. A `vocabulary` of some sources makes it faster.
    """
    asked = _Search(sources, query, vocabulary)
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


class _Plan(NamedTuple):
    """The terms that pieces of a query are in some languages, how many each of them has, and where a vocabulary has them."""

    terms: list[str]
    sizes: list[int]
    lines: Mapping[int, Mapping[str, int]] | None


def _plan(pieces: Sequence[str], languages: frozenset[str], vocabulary: Vocabulary | None) -> _Plan:
    variants = [piece_variants(piece, languages) for piece in pieces]
    terms = [term for some in variants for term in some]
    known = vocabulary is not None and not any(map(is_anywhere, terms))
    return _Plan(terms, [*map(len, variants)], vocabulary.lines(terms) if known and vocabulary else None)


class _Search:
    """A query asked of all sources."""

    def __init__(self, sources: Sequence[Source], query: Query, vocabulary: Vocabulary | None) -> None:
        needed = asked_pieces(" ".join(query.phrases))[:MOST_WORDS]  # of the others `admits` asks the text
        self._sources, self._query, self._vocabulary = sources, query, vocabulary
        self._pieces = list(dict.fromkeys([*query.words, *needed, *query.excluded]))
        self._needed = [self._pieces.index(piece) for piece in needed]
        self._barred = [self._pieces.index(piece) for piece in query.excluded]
        self._plans: dict[frozenset[str], _Plan] = {}
        self._nothing: list[Postings] = [{} for _ in self._pieces]
        self._found = [self._postings(source) for source in sources]
        self._holding = [found for found in self._found if found is not self._nothing]
        self._size = sum(source.size for source in sources)
        self._average = max(sum(source.length for source in sources) / max(self._size, 1), 1)
        self._worth = [self._worth_of(place) for place in range(len(query.words))]
        self._then = self._days()
        self._worth_of_days = _THEN * _WEIGHING.rarity(sum(map(len, self._then)), self._size)

    def _postings(self, source: Source) -> list[Postings]:
        """Where each piece of the query stands in a source."""
        plan = self._plans.get(source.languages)
        if plan is None:
            plan = self._plans[source.languages] = _plan(self._pieces, source.languages, self._vocabulary)
        if plan.lines is None or self._vocabulary is None or not self._vocabulary.holds(source):
            found = source.postings(plan.terms)
        elif isinstance(source, Segment) and (lines := plan.lines.get(id(source))):
            found = [source.on(lines[term]) if term in lines else {} for term in plan.terms]
        else:
            return self._nothing
        if len(plan.terms) == len(plan.sizes):
            return found
        each = iter(found)
        return [_joined(list(islice(each, size))) for size in plan.sizes]

    def _worth_of(self, place: int) -> float:
        return _WEIGHING.rarity(sum(len(found[place]) for found in self._holding), self._size)

    def scored(self, kept: _Filter) -> Iterator[tuple[int, _Scores]]:
        """The scores of each source's messages that may be found."""
        for number, source in enumerate(self._sources):
            silent = self._found[number] is self._nothing and not self._then[number]
            if not silent and kept.admits(source) and (scores := self._scores(number, source)):
                yield number, kept.of(source, self._allowed(number, scores))

    def _scores(self, number: int, source: Source) -> _Scores:
        """Without words those of the days that the query names; with words the days are one of them."""
        if not self._worth:
            return dict.fromkeys(self._then[number], 0.0)
        found = [pair for pair in zip(self._worth, self._found[number], strict=False) if pair[1]]
        if not found and not self._then[number]:
            return {}
        scores = _WEIGHING.scores(found, source.lengths(), self._average) if found else {}
        for place in self._then[number]:
            scores[place] = scores.get(place, 0.0) + self._worth_of_days
        get = scores.get
        return {place: score + _BESIDE * (get(place - 1, 0.0) + get(place + 1, 0.0)) for place, score in scores.items()}

    def _days(self) -> list[list[int]]:
        """The places in each source of what was said in the days that the query names."""
        periods = self._query.periods
        if not periods:
            return [[]] * len(self._sources)
        first, last = min(start for start, _ in periods), max(end for _, end in periods)
        return [_within(source.times(), periods, first, last) for source in self._sources]

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
        have = tuple(word for piece, word in enumerate(words) if place in found[piece])
        return Hit(self._sources[number], place, score, self._certainty(score), have)

    def _certainty(self, score: float) -> float:
        """What share of the query's worth was found, times how much that is beside what chance finds.

        The more messages and the more words there are, the more is found by chance.
        """
        whole = sum(self._worth) + self._worth_of_days
        if not score or not whole:
            return 0.0
        odds = score / whole * score / (math.log1p(self._size) + _CHANCE * len(self._worth))
        return odds / (1 + odds)


def _within(times: Sequence[int], periods: Sequence[Period], first: int, last: int) -> list[int]:
    if not times or max(times) < first or min(times) >= last:
        return []
    return [place for place, at in enumerate(times) if any(start <= at < end for start, end in periods)]


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

"""Searching: the messages of several sources that answer a query best."""

import heapq
import math
from collections.abc import Collection, Iterable, Iterator, Sequence
from itertools import islice
from typing import Final, NamedTuple, Protocol

from om_api.recall.analysis import asked_pieces, piece_variants
from om_api.recall.days import Period
from om_api.recall.loose import Source
from om_api.recall.query import MOST_WORDS, Query
from om_api.recall.ranking import Bm25
from om_api.recall.recalled import HITS
from om_api.recall.segment import Postings
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
    """A message that answers: its source and its place there, its score, how sure it is (0 to 1), the words it has.

    `weights` are what each of these words is worth, the rarer the more.
    """

    source: Source
    place: int
    score: float
    certainty: float
    words: tuple[str, ...]
    weights: tuple[float, ...] = ()


def search(
    sources: Sequence[Source],
    query: Query,
    *,
    threads: Collection[str] = (),
    roles: Collection[str] = (),
    after: int | None = None,
    before: int | None = None,
    limit: int = HITS,
    vocabulary: Vocabulary | None = None,
) -> list[Hit]:
    """The best messages, best first, of two that are equal the newer. Filters are those of the call and of the query.

    How rare a word is, all sources tell, those that are filtered out too. Where the query has phrases, the messages have all
    their words; whether they stand together `query.admits` says of the text. A `vocabulary` of some sources makes it faster.
    """
    asked = _Search(sources, query, vocabulary or Vocabulary())
    return asked.best(_Filter(query, threads, roles, after, before), max(limit, 0))


def sought(query: Query, languages: Iterable[str]) -> frozenset[str]:
    """The terms of which a message must have one to be found, or to count for how rare a word is, in texts of some languages."""
    pieces, spoken = _needed_or_scored(query), frozenset(languages)
    return frozenset(term for piece in pieces for term in piece_variants(piece, spoken))


def _needed_or_scored(query: Query) -> list[str]:
    return list(dict.fromkeys([*query.words, *_needed(query)]))


def _needed(query: Query) -> list[str]:
    """The pieces that a message must have; those behind them `admits` asks the text for."""
    return asked_pieces(" ".join(query.phrases))[:MOST_WORDS]


class _Filter:
    """Which messages may be found at all; `bare` filters nothing."""

    def __init__(
        self, query: Query, threads: Collection[str], roles: Collection[str], after: int | None, before: int | None
    ) -> None:
        self._threads = [frozenset(some) for some in (threads, query.threads) if some]
        self._roles = [frozenset(some) for some in (roles, query.roles) if some]
        self._after = max((ms for ms in (after, query.after) if ms is not None), default=None)
        self._before = min((ms for ms in (before, query.before) if ms is not None), default=None)
        self.bare = not self._threads and not self._roles and self._after is None and self._before is None

    def keeps(self, sources: Sequence[Source], number: int, place: int) -> bool:
        """Whether a message of one of the sources may be found."""
        source = sources[number]
        if not all(source.thread in some for some in self._threads):
            return False
        at = source.at(place)
        if (self._after is not None and at < self._after) or (self._before is not None and at >= self._before):
            return False
        return all(source.role(place) in some for some in self._roles)


class _Searched(Protocol):
    """What is searched at once, with places of its own: a source by itself, or the view of a table of many."""

    @property
    def languages(self) -> frozenset[str]: ...

    def postings(self, terms: Iterable[str]) -> list[Postings]: ...

    def lengths(self) -> Sequence[int]: ...

    def located(self, place: int) -> tuple[int, int]: ...

    def parts(self) -> Iterator[tuple[int, int]]: ...


class _Alone(NamedTuple):
    """A source that is searched by itself, and its number: its places are its own."""

    source: Source
    number: int

    @property
    def languages(self) -> frozenset[str]:
        return self.source.languages

    def postings(self, terms: Iterable[str]) -> list[Postings]:
        return self.source.postings(terms)

    def lengths(self) -> Sequence[int]:
        return self.source.lengths()

    def located(self, place: int) -> tuple[int, int]:
        return self.number, place

    def parts(self) -> Iterator[tuple[int, int]]:
        yield self.number, 0


class _Ground(NamedTuple):
    """Where each piece of the query stands in what is searched at once, and what was said there in the days that it names."""

    searched: _Searched
    found: list[Postings]
    then: list[int]


class _Search:
    """A query asked of all sources."""

    def __init__(self, sources: Sequence[Source], query: Query, vocabulary: Vocabulary) -> None:
        self._sources, self._query = sources, query
        self._pieces = list(dict.fromkeys([*_needed_or_scored(query), *query.excluded]))
        self._needed = [self._pieces.index(piece) for piece in _needed(query)]
        self._barred = [self._pieces.index(piece) for piece in query.excluded]
        self._plans: dict[frozenset[str], list[frozenset[str]]] = {}
        self._grounds = list(self._looked(vocabulary))
        self._size = sum(source.size for source in sources)
        self._average = max(sum(source.length for source in sources) / max(self._size, 1), 1)
        self._worth = [self._worth_of(place) for place in range(len(query.words))]
        self._worth_of_days = _THEN * _WEIGHING.rarity(sum(len(ground.then) for ground in self._grounds), self._size)

    def _looked(self, vocabulary: Vocabulary) -> Iterator[_Ground]:
        """Where anything of the query stands."""
        views, others = vocabulary.views(self._sources)
        every: list[_Searched] = [*views, *(_Alone(self._sources[number], number) for number in others)]
        for searched in every:
            found, then = self._postings(searched), self._days(searched)
            if then or any(found):
                yield _Ground(searched, found, then)

    def _postings(self, searched: _Searched) -> list[Postings]:
        """Where each piece of the query stands: any of the terms that it is in some languages."""
        languages = searched.languages
        plan = self._plans.get(languages)
        if plan is None:
            plan = self._plans[languages] = [piece_variants(piece, languages) for piece in self._pieces]
        found = searched.postings([term for terms in plan for term in terms])
        if len(found) == len(plan):  # each piece has one term, for none has less
            return found
        each = iter(found)
        return [_joined([*islice(each, len(terms))]) for terms in plan]

    def _days(self, searched: _Searched) -> list[int]:
        """The places of what was said in the days that the query names."""
        if not (periods := self._query.periods):
            return []
        parts = ((first, self._sources[number].times()) for number, first in searched.parts())
        return [first + place for first, times in parts for place in _within(times, periods)]

    def _worth_of(self, place: int) -> float:
        return _WEIGHING.rarity(sum(len(ground.found[place]) for ground in self._grounds), self._size)

    def best(self, kept: _Filter, limit: int) -> list[Hit]:
        """The best hits; equal scores are told apart by time only where it matters."""
        found = [each for ground in self._grounds for each in self._scored(ground, kept, limit)]
        least = _least([score for score, _, _ in found], limit)
        best = [(*each, *each[1].searched.located(each[2])) for each in found if each[0] >= least]
        best.sort(key=lambda each: (-each[0], -self._sources[each[3]].at(each[4]), each[3], -each[4]))
        return [self._hit(*each) for each in best[:limit]]

    def _scored(self, ground: _Ground, kept: _Filter, limit: int) -> Iterator[tuple[float, _Ground, int]]:
        """The messages that may be found, but for those that so many others leave behind in any case."""
        scores = self._scores(ground)
        places = self._allowed(ground.found, scores)
        if not kept.bare:
            located = ground.searched.located
            places = [place for place in places if kept.keeps(self._sources, *located(place))]
        get, own = scores.get, [scores[place] for place in places]
        least = _least(own, limit) - 2 * _BESIDE * max(scores.values(), default=0.0)
        for place, score in zip(places, own, strict=True):
            if score >= least:
                yield score + _BESIDE * (get(place - 1, 0.0) + get(place + 1, 0.0)), ground, place

    def _scores(self, ground: _Ground) -> _Scores:
        """Without words those of the days that the query names; with words the days are one of them."""
        if not self._worth:
            return dict.fromkeys(ground.then, 0.0)
        found = [pair for pair in zip(self._worth, ground.found, strict=False) if pair[1]]
        scores = _WEIGHING.scores(found, ground.searched.lengths(), self._average) if found else {}
        for place in ground.then:
            scores[place] = scores.get(place, 0.0) + self._worth_of_days
        return scores

    def _allowed(self, found: Sequence[Postings], scores: _Scores) -> Collection[int]:
        places: Collection[int] = scores
        for piece in self._needed:
            places = [place for place in places if place in found[piece]]
        for piece in self._barred:
            places = [place for place in places if place not in found[piece]]
        return places

    def _hit(self, score: float, ground: _Ground, at: int, number: int, place: int) -> Hit:
        """The hit of a message, with the words it has."""
        asked = zip(self._query.words, self._worth, ground.found, strict=False)
        have = [(word, round(worth, 2)) for word, worth, found in asked if at in found]
        words, weights = zip(*have, strict=True) if have else ((), ())
        return Hit(self._sources[number], place, score, self._certainty(score), words, weights)

    def _certainty(self, score: float) -> float:
        """What share of the query's worth was found, times how much that is beside what chance finds.

        The more messages and the more words there are, the more is found by chance.
        """
        whole = sum(self._worth) + self._worth_of_days
        if not score or not whole:
            return 0.0
        odds = score / whole * score / (math.log1p(self._size) + _CHANCE * len(self._worth))
        return odds / (1 + odds)


def _least(scores: Sequence[float], limit: int) -> float:
    """The lowest of so many highest; without an end where there are no more than these."""
    return heapq.nlargest(limit, scores)[-1] if len(scores) > limit > 0 else -math.inf


def _within(times: Sequence[int], periods: Sequence[Period]) -> list[int]:
    first, last = min(start for start, _ in periods), max(end for _, end in periods)
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

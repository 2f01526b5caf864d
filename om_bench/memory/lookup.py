"""Lookups: what a search for a question shows beside notes, and how much of the evidence is among its first hits."""

from bisect import bisect_left
from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from datetime import UTC, datetime

import msgspec
from msgspec import field

from om_api.domain.message_tokens import Count
from om_api.domain.messages import Message
from om_api.language.calendar import show_day
from om_api.recall.loose import Loose
from om_api.recall.query import query_of_text
from om_api.recall.searching import search
from om_api.recall.segment import Findable
from om_bench.harness.talks import Talk, TalkQuestion, seen

FIRST = 5  # hits that evidence is looked for among
AROUND = 1  # turns before and after a hit
_MOST = 50  # hits that are looked at for what fits


class FoundShares(msgspec.Struct):
    """How much of a question's evidence is found: the sum of the shares of `of` questions, and their mean in percent."""

    of: int = 0
    found: float = 0.0

    def add(self, share: float) -> None:
        """Count a further question."""
        self.of += 1
        self.found += share

    @property
    def percent(self) -> float:
        """The mean over the questions, with one decimal."""
        return round(100 * self.found / self.of, 1) if self.of else 0.0


class EvidenceRecall(msgspec.Struct):
    """Evidence among the first hits, and among them with the turns around each."""

    hits: FoundShares = field(default_factory=FoundShares)
    around: FoundShares = field(default_factory=FoundShares)


class Lookups:
    """A talk as recall searches it: a question is a query as its user puts it, asked when the talk has ended."""

    def __init__(self, talk: Talk, count: Count) -> None:
        self._messages = talk.messages
        self._ids = [message.id for message in talk.messages]
        self._days = [_day(message) for message in talk.messages]
        self._lines = [_line(message, talk.people) for message in talk.messages]
        self._costs = [count(line) + 1 for line in self._lines]
        self._headings = {day: count(day) + 1 for day in dict.fromkeys(self._days)}
        self._threads: dict[str, list[int]] = defaultdict(list)
        for place, message in enumerate(talk.messages):
            self._threads[message.thread_id].append(place)
        self._sources = [Loose(thread, self._findable(places)) for thread, places in self._threads.items()]

    def _findable(self, places: Iterable[int]) -> list[Findable]:
        messages = [self._messages[place] for place in places]
        return [Findable(message.id, message.role, message.at, seen(message)) for message in messages]

    def find(self, question: TalkQuestion, limit: int) -> list[int]:
        """The places of the best messages, best first."""
        query = query_of_text(question.text, self._messages[-1].at, "UTC")
        return [self._threads[hit.source.thread][hit.place] for hit in search(self._sources, query, limit=limit)]

    def shown(self, question: TalkQuestion, tokens: int) -> str:
        """The hits and the turns around each, best hit first, as far as they fit, under their days; the rest is passed over."""
        taken: set[int] = set()
        days: set[str] = set()
        for place in self._nearest(self.find(question, _MOST)):
            cost = self._costs[place] + self._headings[self._days[place]] * (self._days[place] not in days)
            if place not in taken and cost <= tokens:
                tokens -= cost
                taken.add(place)
                days.add(self._days[place])
        return "\n".join(self._told(sorted(taken)))

    def _told(self, places: Iterable[int]) -> Iterator[str]:
        day = ""
        for place in places:
            if self._days[place] != day:
                yield (day := self._days[place])
            yield self._lines[place]

    def judge(self, question: TalkQuestion, found: EvidenceRecall) -> None:
        """Add a question to what was `found` before."""
        hits = self.find(question, FIRST)
        for evidence, places in ((found.hits, hits), (found.around, self._nearest(hits))):
            evidence.add(len({self._ids[place] for place in places} & set(question.evidence)) / len(question.evidence))

    def _nearest(self, hits: Iterable[int]) -> Iterator[int]:
        """Each hit, then the turns before and after it in its thread."""
        for hit in hits:
            thread = self._threads[self._messages[hit].thread_id]
            place = bisect_left(thread, hit)
            yield hit
            yield from (near for near in thread[max(0, place - AROUND) : place + AROUND + 1] if near != hit)


def _day(message: Message) -> str:
    return f"Date: {show_day(datetime.fromtimestamp(message.at / 1000, UTC).date())}"


def _line(message: Message, people: Sequence[str]) -> str:
    """A message after who said it, whose name stands in it where people share a role."""
    said = " ".join(seen(message).split())
    return said if said.startswith(tuple(f"{name}: " for name in people)) else f"{message.role}: {said}"

"""Lookups: what a search for a question shows beside notes, and how much of the evidence is among its first hits."""

from bisect import bisect_left
from collections import defaultdict
from collections.abc import Iterable, Iterator

import msgspec
from msgspec import field

from om_api.context.recalled import recalled_section
from om_api.context.view import View
from om_api.domain.message_tokens import Count
from om_api.recall.loose import Loose
from om_api.recall.query import query_of_text
from om_api.recall.recalled import HITS, RecalledHit
from om_api.recall.searching import SURE, search
from om_api.recall.segment import Findable
from om_bench.harness.talks import Talk, TalkQuestion, seen

FIRST = 5  # hits that evidence is looked for among
AROUND = 1  # turns before and after a hit
_ASKING = "asking"  # a thread of its own


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
        self._count = count
        self._threads: dict[str, list[int]] = defaultdict(list)
        for place, message in enumerate(talk.messages):
            self._threads[message.thread_id].append(place)
        self._sources = [Loose(thread, self._findable(places)) for thread, places in self._threads.items()]

    def _findable(self, places: Iterable[int]) -> list[Findable]:
        messages = [self._messages[place] for place in places]
        return [Findable(message.id, message.role, message.at, seen(message)) for message in messages]

    def find(self, question: TalkQuestion, limit: int) -> list[int]:
        """The places of the best messages, best first."""
        return [place for place, _ in self._found(question, limit, 0.0)]

    def _found(self, question: TalkQuestion, limit: int, sure: float) -> list[tuple[int, tuple[str, ...]]]:
        query = query_of_text(question.text, self._messages[-1].at, "UTC")
        hits = search(self._sources, query, limit=limit)
        return [(self._threads[hit.source.thread][hit.place], hit.words) for hit in hits if hit.certainty >= sure]

    def shown(self, question: TalkQuestion, tokens: int, *, asked: bool = True) -> str:
        """What recall finds for a question, in so many tokens; not `asked`, only what a context shows by itself."""
        found = [self._hit(*each) for each in self._found(question, HITS, 0.0 if asked else SURE)]
        view = View(recalled_tokens=tokens)
        return recalled_section(found, (), "", _ASKING, view, self._count).text

    def _hit(self, place: int, words: tuple[str, ...]) -> RecalledHit:
        thread = self._threads[self._messages[place].thread_id]
        at, own = bisect_left(thread, place), self._messages[place]
        beside = thread[max(0, at - AROUND) : at], thread[at + 1 : at + 1 + AROUND]
        before, after = (tuple(self._messages[near] for near in some) for some in beside)
        return RecalledHit(
            kind="message", id=own.id, thread_id=own.thread_id, at=own.at, text="", matched=words,
            message=own, before=before, after=after,
        )  # fmt: skip

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

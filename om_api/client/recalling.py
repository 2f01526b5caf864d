"""Recall: what was said before is looked up by its words, whatever tier it is in, and shown in its surroundings."""

from collections.abc import Callable, Iterator, Sequence

import msgspec

from om_api.client.around import PAD, Surroundings, ThreadSlice, Window, surroundings, window
from om_api.client.reading import Scopes
from om_api.client.recall_index import RecallIndex
from om_api.client.recall_notes import NotedPart, noted_parts
from om_api.client.recall_query import RecallQuery
from om_api.domain.caching import LRU
from om_api.domain.errors import StoreError
from om_api.domain.message_tokens import Count, count_message
from om_api.domain.messages import Message
from om_api.domain.snapshot import Snapshot
from om_api.domain.tool_calls import exchanges
from om_api.domain.values import check_id
from om_api.recall.query import Query, query_of_text
from om_api.recall.ranking import Ranker
from om_api.recall.recalled import Browsed, Recalled, RecalledHit
from om_api.recall.said import said
from om_api.recall.searching import SURE, Hit, search
from om_api.recall.segment import check_of
from om_api.settings import Settings
from om_api.store.driver.steps import Steps
from om_api.store.index.listing import ChunkPlace, listing
from om_api.store.index.segments import ChunkSpan, segments, spans
from om_api.store.memory import reading
from om_api.store.memory.keys import Keys
from om_api.store.memory.lineage import covered

REMEMBERED, MOST = 256, 128 * 2**20  # resources, and bytes of what was decoded of them
_TRIES = 4
_BY_ITSELF = 8  # hits that a context may show
_CANDIDATES = 1_000  # whose texts are looked through for a phrase


class _MovedError(Exception):
    """What was found is not where it was: a chunk was split, erased from or cleared meanwhile, or has expired."""


class Recalling:
    """Looks up words in everything that is kept of a resource. Segments never change, so that a client reads each once."""

    def __init__(
        self, settings: Settings, keys: Keys, scopes: Scopes, count: Callable[[str], int], ranker: Ranker | None = None
    ) -> None:
        self._settings, self._keys, self._scopes, self._count = settings, keys, scopes, count
        self._ranker = ranker
        self._indexes: LRU[str, RecallIndex] = LRU(REMEMBERED, MOST, share=0.5)

    def recall(self, resource: str, asked: RecallQuery) -> Steps[Recalled]:
        """Look a query up; see the client's `recall`."""
        check_id(resource, "resource_id")
        if asked.query.reason:
            return Recalled(query=asked.query.text, reason=asked.query.reason, notes=asked.query.notes)
        scopes = yield from self._scopes.every(resource)
        for tried in range(_TRIES):
            self._begin_anew(resource, tried)
            index = yield from self._index(resource)
            notes = yield from noted_parts(self._keys, scopes, asked.kinds, index.language)
            try:
                return (yield from self._answer(index, notes, asked))
            except _MovedError:
                continue
        raise _too_fast(resource)

    def browse(self, resource: str, message: str, before: int, after: int, thread: str | None) -> Steps[Browsed]:
        """A message and the turns around it; see the client's `browse`."""
        check_id(resource, "resource_id")
        check_id(message, "message_id")
        for tried in range(_TRIES):
            self._begin_anew(resource, tried)
            index = yield from self._index(resource)
            try:
                return (yield from self._browsed(index, message, before, after, thread))
            except _MovedError:
                continue
        raise _too_fast(resource)

    def for_context(self, snapshot: Snapshot, timezone: str) -> Steps[list[RecalledHit]]:
        """What was said before about the newest message of a thread that nobody answered yet, the best first.

        One round trip where nothing was sealed, activated or said in other threads since the last look; then up to two more.
        """
        newest = unanswered(snapshot.messages)
        query = query_of_text(newest.text() if newest else "", snapshot.now, timezone)
        if query.reason or not (snapshot.record.epoch or snapshot.others):
            return []
        resource, version = snapshot.scope.resource, _version(snapshot)
        index = self._indexes.get(resource)
        for tried in range(_TRIES):
            self._begin_anew(resource, tried)
            if index is None or version is None or index.version != version:
                index = yield from self._index(resource)
                index.version = version
            hits = search(index.past(snapshot.thread.id), query, limit=_BY_ITSELF, vocabulary=index.vocabulary())
            try:
                return (yield from self._shown(index, (), [hit for hit in hits if hit.certainty >= SURE], 1))
            except _MovedError:
                index.version = None
        return []

    def _begin_anew(self, resource: str, tried: int) -> None:
        """Know nothing of a resource any more once two looks found that it has moved: many of its chunks may have expired."""
        if tried > 1:
            self._indexes.pop(resource)

    # -- what there is to search -----------------------------------------------------------------------------------------

    def _index(self, resource: str) -> Steps[RecallIndex]:
        """All that can be searched, as of now. What went between two looks is looked for again; gone twice, it has expired."""
        language = self._settings.for_agent(resource).recall.language
        index = self._indexes.get(resource) or RecallIndex(resource, language)
        before: frozenset[str] = frozenset()
        for _ in range(_TRIES):
            listed = yield from listing(self._keys, resource, index.threads, index.word)
            lacking = index.look(listed)
            found = yield from segments(self._keys, resource, lacking)
            index.learn(found)
            gone = frozenset(lacking.keys() - found.keys())
            if gone <= before:
                index.lose(gone)
                break
            before = gone
        self._indexes.put(resource, index, index.weight)
        return index

    # -- what is found ---------------------------------------------------------------------------------------------------

    def _answer(self, index: RecallIndex, notes: Sequence[NotedPart], asked: RecallQuery) -> Steps[Recalled]:
        query, wanted = asked.query, asked.offset + asked.limit
        parts = [*(index.parts() if "message" in asked.kinds else ()), *(noted.part for noted in notes)]
        hits = search(
            parts,
            query,
            threads=asked.threads,
            roles=asked.roles,
            after=asked.after,
            before=asked.before,
            limit=self._pool(query, wanted + 1),
            vocabulary=index.vocabulary(),
        )
        found: list[RecalledHit] = []
        step = len(hits) if self._ranker else wanted + 1
        for start in range(0, len(hits), max(step, 1)):
            some = yield from self._shown(index, notes, hits[start : start + step], asked.around)
            found += [hit for hit in some if query.admits(hit.text)]
            if len(found) > wanted:
                break
        found = self._ranked(query, found)
        page = list(self._fitting(found[asked.offset : wanted], asked.max_tokens))
        after = asked.offset + len(page)
        return Recalled(
            query=query.text,
            hits=tuple(page),
            next=after if after < len(found) else None,
            reason="" if page else _why(asked, len(found)),
            notes=query.notes,
        )

    def _pool(self, query: Query, wanted: int) -> int:
        """How many candidates are looked at: more than are wanted where their texts decide."""
        return max(wanted, _CANDIDATES if query.phrases else 0, self._ranker.pool if self._ranker else 0)

    def _ranked(self, query: Query, hits: list[RecalledHit]) -> list[RecalledHit]:
        """In the order of a ranker of the owner's, where there is one."""
        if self._ranker is None or not hits:
            return hits
        scores = self._ranker.scores(query.text, [hit.text for hit in hits])
        rescored = [msgspec.structs.replace(hit, score=float(each)) for hit, each in zip(hits, scores, strict=True)]
        return sorted(rescored, key=lambda hit: -hit.score)

    def _fitting(self, hits: Sequence[RecalledHit], room: int | None) -> Iterator[RecalledHit]:
        """As many hits as have room, with what stands around them; the first one always."""
        for n, hit in enumerate(hits):
            if room is not None:
                room -= _weight(hit, self._count)
                if room < 0 and n:
                    return
            yield hit

    def _shown(
        self, index: RecallIndex, notes: Sequence[NotedPart], hits: Sequence[Hit], around: int
    ) -> Steps[list[RecalledHit]]:
        """Hits with what they say, in their order, those of messages in their surroundings."""
        noted = {id(each.part): each.hits for each in notes}
        names = index.names()
        windows: dict[int, Window] = {}
        for n, hit in enumerate(hits):
            if id(hit.source) in names:
                order = index.order(hit.source.thread)
                windows[n] = window(order, names[id(hit.source)], hit.place, around + PAD, around + PAD)
        read = yield from self._read(index, list(windows.values()))
        said_at = dict(zip(windows, read, strict=True))
        chunks = {names[id(hits[n].source)] for n in windows}
        covers = yield from self._covers(index, chunks - {""})
        return [
            _of_message(hit, said_at[n], windows[n], around, covers.get(names[id(hit.source)], ""))
            if n in windows
            else _of_note(hit, noted[id(hit.source)][hit.place])
            for n, hit in enumerate(hits)
        ]

    def _read(self, index: RecallIndex, windows: Sequence[Window]) -> Steps[list[list[Message | None]]]:
        """The messages of windows, in one round trip; _MovedError where some of them are not there any more."""
        wanted = list(dict.fromkeys(part for each in windows for part in each.slices if part.chunk))
        found = dict[ThreadSlice, list[Message | None]]()
        if wanted:
            threads = {part.chunk: part.thread for part in wanted}
            asked = [ChunkSpan(part.chunk, part.first, part.last) for part in wanted]
            found = dict(zip(wanted, (yield from spans(self._keys, index.resource, asked, threads)), strict=True))
        if moved := {part.chunk for part, messages in found.items() if len(messages) != part.size}:
            for chunk in moved:
                index.drop(chunk)
            raise _MovedError
        return [
            [message for part in each.slices for message in (found[part] if part.chunk else index.raw(part))]
            for each in windows
        ]

    def _covers(self, index: RecallIndex, chunks: set[str]) -> Steps[dict[str, str]]:
        """What stands for chunks in a context: an observation, or the generation in force."""
        found: dict[str, str] = {}
        for chunk in chunks:
            place = index.scope_of(chunk)
            if index.is_activated(chunk):
                stands = yield from self._standing(index, place)
                found[chunk] = f"generation {place.generation}" if chunk in stands else f"observation {chunk}"
        return found

    def _standing(self, index: RecallIndex, place: ChunkPlace) -> Steps[frozenset[str]]:
        """The observations that the generation in force stands for; read once of each generation."""
        if place.generation in {"", "0"}:
            return frozenset()
        at = place.scope, place.epoch, place.generation
        if at not in index.standing:
            generations = {each.n: each for each in (yield from reading.generations(self._keys, place.scope))}
            index.standing = {**index.standing, at: covered(generations, max(generations, default=0)).ids}
        return index.standing[at]

    def _browsed(self, index: RecallIndex, message: str, before: int, after: int, thread: str | None) -> Steps[Browsed]:
        for at in index.find(message, thread):
            order = index.order(at.thread)
            around = window(order, at.chunk, at.first, before + PAD, after + PAD)
            (messages,) = yield from self._read(index, [around])
            if (own := messages[around.place]) is not None and own.id == message:
                return _browsed(surroundings(messages, around.place, before, after))
        return Browsed(message=None)


def unanswered(messages: Sequence[Message]) -> Message | None:
    """The user's newest message, unless the Actor has answered it: calls of tools are no answer yet."""
    for message in reversed(messages):
        if message.role == "user":
            return message
        if message.role == "assistant" and message.text().strip() and not any(exchanges([message])[0].calls):
            return None
    return None


def _version(snapshot: Snapshot) -> object:
    """What moves when anything is sealed, activated or removed, or is said in another thread; None where nobody can tell."""
    if snapshot.scope.thread is not None:
        return None
    others = {name: counts for name, counts in snapshot.unsealed.items() if name != snapshot.thread.id}
    return snapshot.record.epoch, snapshot.record.seq, snapshot.record.generation, others


def _of_message(hit: Hit, messages: Sequence[Message | None], around: Window, turns: int, covers: str) -> RecalledHit:
    own = messages[around.place]
    if own is None or hit.source.check(hit.place) != check_of(own.id):
        raise _MovedError
    found = surroundings(messages, around.place, turns, turns)
    return RecalledHit(
        kind="message",
        id=own.id,
        thread_id=own.thread_id,
        at=own.at,
        text=said(own),
        role=own.role,
        score=hit.score,
        certainty=hit.certainty,
        matched=hit.words,
        covered_by=covers,
        message=own,
        before=found.before,
        after=found.after,
    )


def _of_note(hit: Hit, note: RecalledHit) -> RecalledHit:
    return msgspec.structs.replace(note, score=hit.score, certainty=hit.certainty, matched=hit.words)


def _browsed(found: Surroundings) -> Browsed:
    return Browsed(
        message=found.message, before=found.before, after=found.after, earlier=found.earlier, later=found.later
    )


def _weight(hit: RecalledHit, count: Count) -> int:
    messages = [*hit.before, *([hit.message] if hit.message else ()), *hit.after]
    return sum(count_message(each, count) for each in messages) if messages else count(hit.text)


def _why(asked: RecallQuery, found: int) -> str:
    if found:
        return f"there are no more than {found}: ask with an offset below that"
    limited = asked.threads or asked.roles or asked.after is not None or asked.before is not None
    more = ", or look in all threads, roles and times" if limited else ""
    return f"nothing that is kept holds these words: try others, or fewer{more}"


def _too_fast(resource: str) -> StoreError:
    return StoreError(f"{resource} changes faster than it can be searched: repeat.", stored=False)

"""Recall: what was said before is looked up by its words, whatever tier it is in, and shown in its surroundings."""

from collections.abc import Callable, Iterator, Sequence
from typing import TypeVar

import msgspec

from om_api.client.around import PAD, WIDE, Surroundings, Window, surroundings, window
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
from om_api.domain.values import Scope, check_id
from om_api.recall.query import Query, query_of_text
from om_api.recall.ranking import Ranker
from om_api.recall.recalled import Browsed, Recalled, RecalledHit
from om_api.recall.said import said
from om_api.recall.searching import SURE, Hit, search
from om_api.recall.segment import check_of
from om_api.settings import Settings
from om_api.store.driver.steps import Steps
from om_api.store.index.listing import MemoryPlace, listing
from om_api.store.index.segments import Stretch, segments, stretches
from om_api.store.memory import reading
from om_api.store.memory.keys import Keys
from om_api.store.memory.lineage import covered

T = TypeVar("T")
REMEMBERED, MOST = 256, 256 * 2**20  # resources, and bytes of what was decoded of them
_TRIES = 4
_BY_ITSELF = 8  # hits that a context may show
_CANDIDATES = 1_000  # whose texts are looked through for a phrase


class _MovedError(Exception):
    """What was found is not where it was: a chunk was split, erased from or cleared meanwhile, or has expired."""

    def __init__(self, *chunks: str) -> None:
        super().__init__(*chunks)
        self.chunks = frozenset(chunks)


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
        scopes = (yield from self._scopes.every(resource)) if asked.kinds - {"message"} else []
        return (yield from self._settled(resource, lambda index: self._answer(index, scopes, asked)))

    def browse(self, resource: str, message: str, before: int, after: int, thread: str | None) -> Steps[Browsed]:
        """A message and the turns around it; see the client's `browse`."""
        check_id(resource, "resource_id")
        check_id(message, "message_id")
        return (yield from self._settled(resource, lambda index: self._browsed(index, message, before, after, thread)))

    def for_context(self, snapshot: Snapshot, timezone: str) -> Steps[list[RecalledHit]]:
        """What was said before about the newest message of a thread that nobody answered yet, the best first.

        In thread scope a thread remembers only itself.

        One round trip where nothing was sealed, activated or said in other threads since the last look; then up to two more.
        """
        newest = unanswered(snapshot.messages)
        query = query_of_text(newest.text() if newest else "", snapshot.now, timezone)
        if query.reason or not (snapshot.record.epoch or snapshot.others):
            return []
        resource, version = snapshot.scope.resource, _version(snapshot)
        index, moved = self._indexes.get(resource), frozenset[str]()
        for tried in range(_TRIES):
            if index is None or version is None or index.version != version or tried:
                index = yield from self._index(resource, moved, anew=tried > 1)
                index.version = version
            past = index.past(snapshot.thread.id, alone=snapshot.scope.thread is not None)
            hits = search(past, query, limit=_BY_ITSELF, vocabulary=index.vocabulary())
            sure = [hit for hit in hits if hit.certainty >= SURE]
            try:
                return (yield from self._shown(index, (), sure, 1, raw=True))
            except _MovedError as error:
                moved = error.chunks
        return []

    def _settled(self, resource: str, find: Callable[[RecallIndex], Steps[T]]) -> Steps[T]:
        """What is found in the index as of now; looked for again where something moved meanwhile."""
        moved = frozenset[str]()
        for tried in range(_TRIES):
            index = yield from self._index(resource, moved, anew=tried > 1)
            try:
                return (yield from find(index))
            except _MovedError as error:
                moved = error.chunks
        raise StoreError(f"{resource} changes faster than it can be searched: repeat.", stored=False)

    # -- what there is to search -----------------------------------------------------------------------------------------

    def _index(self, resource: str, moved: frozenset[str] = frozenset(), *, anew: bool = False) -> Steps[RecallIndex]:
        """All that can be searched, as of now. What went between two looks is looked for again; gone twice, it has expired.

        Chunks that have `moved` are read again; with `anew` all are.
        """
        known = None if anew else self._indexes.get(resource)
        index = (known or RecallIndex(resource, self._settings.for_agent(resource).recall.language)).copy()
        index.drop(moved)
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

    def _answer(self, index: RecallIndex, scopes: Sequence[Scope], asked: RecallQuery) -> Steps[Recalled]:
        notes = yield from noted_parts(self._keys, scopes, asked.kinds, index.language)
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
        step = max(len(hits), 1) if self._ranker else wanted + 1
        for start in range(0, len(hits), step):
            some = yield from self._shown(index, notes, hits[start : start + step], asked.around)
            found += [hit for hit in some if query.admits(hit.text)]
            if len(found) > wanted:
                break
        return self._page(asked, self._ranked(query, found))

    def _page(self, asked: RecallQuery, found: Sequence[RecalledHit]) -> Recalled:
        """The hits that were asked for, as far as they have room, and how to go on."""
        page = tuple(self._fitting(found[asked.offset : asked.offset + asked.limit], asked.max_tokens))
        after = asked.offset + len(page)
        return Recalled(
            query=asked.query.text,
            hits=page,
            next=after if after < len(found) else None,
            reason="" if page else _why(asked, len(found)),
            notes=asked.query.notes,
        )

    def _pool(self, query: Query, wanted: int) -> int:
        """How many candidates are looked at: more than are wanted where their texts decide."""
        return max(
            wanted,
            _CANDIDATES if query.phrases or query.excluded_phrases else 0,
            self._ranker.pool if self._ranker else 0,
        )

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
        self, index: RecallIndex, notes: Sequence[NotedPart], hits: Sequence[Hit], around: int, *, raw: bool = False
    ) -> Steps[list[RecalledHit]]:
        """Hits with what they say, in their order, those of messages in their surroundings; `raw` as in `_read`."""
        noted = {id(each.part): each.hits for each in notes}
        messages = [hit for hit in hits if id(hit.source) not in noted]
        places = [Stretch(hit.source.thread, index.name(hit.source), hit.place, hit.place) for hit in messages]
        beside = yield from self._beside(index, places, around, around, raw=raw)
        covers = yield from self._covers(index, {place.chunk for place in places} - {""})
        told = iter(
            [
                said and _of_message(hit, said, place.chunk, covers.get(place.chunk, ""))
                for hit, place, said in zip(messages, places, beside, strict=True)
            ]
        )
        found = [
            _of_note(hit, noted[id(hit.source)][hit.place]) if id(hit.source) in noted else next(told) for hit in hits
        ]
        return [hit for hit in found if hit]

    def _beside(
        self, index: RecallIndex, places: Sequence[Stretch], before: int, after: int, *, raw: bool = False
    ) -> Steps[list[Surroundings | None]]:
        """What stands beside messages, None for what is none. Where that cuts a call from its results they are read once more."""
        orders = {thread: index.order(thread) for thread in {at.thread for at in places}}
        found, lacking = dict[Stretch, Surroundings | None](), list(dict.fromkeys(places))
        for pad in (PAD, WIDE):
            windows = [window(orders[at.thread], at.chunk, at.first, before + pad, after + pad) for at in lacking]
            read = yield from self._read(index, windows, raw=raw)
            for at, own, messages in zip(lacking, windows, read, strict=True):
                found[at] = _surroundings(messages, own, before, after)
            lacking = [at for at, own in zip(lacking, windows, strict=True) if _is_cut(found[at], own)]
        return [found[at] for at in places]

    def _read(
        self, index: RecallIndex, windows: Sequence[Window], *, raw: bool = False
    ) -> Steps[list[list[Message | None]]]:
        """The messages of windows, in one round trip; _MovedError where some of them are not there any more.

        With `raw` what is raw is read again too: the index may be of a while ago.
        """
        wanted = list(dict.fromkeys(part for each in windows for part in each.stretches if part.chunk or raw))
        found = dict[Stretch, list[Message | None]]()
        if wanted:
            found = dict(zip(wanted, (yield from stretches(self._keys, index.resource, wanted)), strict=True))
        if moved := {part.chunk for part, messages in found.items() if _has_moved(index, part, messages)}:
            raise _MovedError(*moved)
        return [
            [message for part in each.stretches for message in (found[part] if part in found else index.raw(part))]
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

    def _standing(self, index: RecallIndex, place: MemoryPlace) -> Steps[frozenset[str]]:
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
            (found,) = yield from self._beside(index, [at], before, after)
            if found and found.message.id == message:
                return _browsed(found)
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


def _surroundings(messages: Sequence[Message | None], own: Window, before: int, after: int) -> Surroundings | None:
    if messages[own.place] is None:
        return None
    found = surroundings(messages, own.place, before, after)
    return found._replace(earlier=found.earlier or own.earlier, later=found.later or own.later)


def _is_cut(found: Surroundings | None, own: Window) -> bool:
    return found is not None and not found.whole and (own.earlier or own.later)


def _of_message(hit: Hit, found: Surroundings, chunk: str, covers: str) -> RecalledHit:
    own = found.message
    if hit.source.check(hit.place) != check_of(own.id):
        raise _MovedError(chunk)
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


def _has_moved(index: RecallIndex, part: Stretch, messages: Sequence[Message | None]) -> bool:
    return len(messages) != part.size or (not part.chunk and messages != index.raw(part))


def _weight(hit: RecalledHit, count: Count) -> int:
    messages = [*hit.before, *([hit.message] if hit.message else ()), *hit.after]
    return sum(count_message(each, count) for each in messages) if messages else count(hit.text)


def _why(asked: RecallQuery, found: int) -> str:
    if found:
        return f"there are no more than {found}: ask with an offset below that"
    more = ", or look in all threads, roles and times" if asked.limited else ""
    if asked.query.only_dates:
        return f"nothing that was said then is kept: name other days, or a word{more}"
    return f"nothing that is kept holds these words: try others, or fewer{more}"

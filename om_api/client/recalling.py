"""Recall: what was said before is looked up by its words, whatever tier it is in, and shown in its surroundings."""

from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from collections.abc import Set as AbstractSet
from contextlib import suppress
from functools import partial
from itertools import zip_longest
from typing import TypeVar

import msgspec

from om_api.client.composing import CANNOT_BE_READ, ComposedAsk, why_left_out
from om_api.client.reading import Scopes
from om_api.client.recall.around import Surroundings
from om_api.client.recall.recall_hits import Hits, MovedError
from om_api.client.recall.recall_index import RecallIndex
from om_api.client.recall.recall_notes import SetAside, noted_parts, set_aside
from om_api.client.recall.recall_query import RecallQuery
from om_api.domain.caching import LRU
from om_api.domain.errors import ArchiveError, StoreError
from om_api.domain.histories.retraction import retracted_ids
from om_api.domain.message_tokens import Count, count_message
from om_api.domain.messages import Message
from om_api.domain.snapshot import Snapshot
from om_api.domain.tool_calls import exchanges
from om_api.domain.values import Scope, check_id
from om_api.recall.distant import Distant
from om_api.recall.query import Query, query_of_text
from om_api.recall.ranking import Ranker
from om_api.recall.recalled import HITS, Browsed, Recalled, RecalledHit
from om_api.recall.searching import SURE, Hit, search, sought
from om_api.recall.vocabulary import Vocabulary
from om_api.settings import Settings
from om_api.store.driver.archived_keys import lacks
from om_api.store.driver.steps import Leniently, Steps
from om_api.store.index import distant
from om_api.store.index.listing import MemoryPlace, listing
from om_api.store.index.segments import Kept, segments
from om_api.store.memory import reading
from om_api.store.memory.keys import Keys
from om_api.store.threads.aliases import aliases

T = TypeVar("T")
REMEMBERED, MOST = 256, 256 * 2**20  # resources, and bytes of what was decoded of them
_TRIES = 4
_NOT_ALL = "nothing in the part that could be read holds these words"
_NAMES_THREADS = "a recall that names threads searches the resource's own memory only"
_CANDIDATES = 1_000  # whose texts are looked through for a phrase
_MOST_RAW = 2_000  # raw messages that automatic recall searches, the newest of each thread; recall itself searches all


class Recalling:
    """Looks up words in everything that is kept of a resource. Segments never change, so that a client reads each once."""

    def __init__(
        self, settings: Settings, keys: Keys, scopes: Scopes, count: Callable[[str], int], ranker: Ranker | None = None
    ) -> None:
        self._settings, self._keys, self._scopes, self._count = settings, keys, scopes, count
        self._ranker, self._hits = ranker, Hits(keys)
        self._indexes: LRU[str, RecallIndex] = LRU(REMEMBERED, MOST, share=0.5)

    def recall(self, resource: str, asked: RecallQuery) -> Steps[Recalled]:
        """Look a query up; see the client's `recall`."""
        check_id(resource, "resource_id")
        if asked.query.reason:
            return Recalled(query=asked.query.text, reason=asked.query.reason, notes=asked.query.notes)
        asked = yield from self._named(resource, asked)
        scopes = (yield from self._scopes.every(resource)) if asked.kinds - {"message"} else []
        found, missing = yield from self._settled(resource, lambda index: self._answer(index, scopes, asked))
        if not missing:
            return found
        return msgspec.structs.replace(found, partial=missing, reason=found.reason and _NOT_ALL)

    def _named(self, resource: str, asked: RecallQuery) -> Steps[RecallQuery]:
        """What is asked, of the threads that its names stand for."""
        if not (asked.threads or asked.query.threads):
            return asked
        stands = yield from aliases(self._keys, resource)
        query = msgspec.structs.replace(
            asked.query, threads=tuple(stands.get(name, name) for name in asked.query.threads)
        )
        return asked._replace(query=query, threads=frozenset(stands.get(name, name) for name in asked.threads))

    def browse(self, resource: str, message: str, before: int, after: int, thread: str | None) -> Steps[Browsed]:
        """A message and the turns around it; see the client's `browse`."""
        check_id(resource, "resource_id")
        check_id(message, "message_id")
        thread = yield from self._scopes.named(resource, thread)
        found, missing = yield from self._settled(
            resource, lambda index: self._browsed(index, message, before, after, thread)
        )
        return msgspec.structs.replace(found, partial=missing) if missing else found

    def for_context(self, snapshot: Snapshot, timezone: str) -> Steps[list[RecalledHit]]:
        """What was said before about the newest message of a thread that nobody answered yet, the best first.

        In thread scope, and where its contexts start without memory, a thread remembers only itself.

        One round trip where nothing was sealed, activated or said in other threads since the last look; then up to two more.
        """
        newest = unanswered(snapshot.messages)
        query = query_of_text(newest.text() if newest else "", snapshot.now, timezone)
        if query.reason:
            return []
        found = list[list[RecalledHit]]()
        if snapshot.record.epoch or snapshot.others:
            own = partial(self._sure, snapshot=snapshot, query=query)
            found.append((yield from self._surely(snapshot.scope.resource, _version(snapshot), own)))
        for notes in snapshot.composed:
            if notes.version[:1] != (None,):
                theirs = partial(self._noted, query=query)
                with suppress(*CANNOT_BE_READ):  # another memory's broken keys hide no hit of the others
                    found.append((yield from self._surely(notes.resource, notes.version, theirs, noted=True)))
        return merged(found)

    def _surely(
        self,
        resource: str,
        version: object,
        find: Callable[[RecallIndex], Steps[list[Hit]]],
        *,
        noted: bool = False,
    ) -> Steps[list[RecalledHit]]:
        """What is found in the index as of a version; `noted`: the version is that which others see."""
        index, moved = self._indexes.get(resource), frozenset[str]()
        missed = yield from Leniently()
        for tried in range(_TRIES):
            try:
                known = index and (index.noted_version if noted else index.version)
                if index is None or version is None or known != version or tried:
                    index = yield from self._index(resource, moved, anew=tried > 1, missed=missed, most=_MOST_RAW)
                    index.version, index.noted_version = (None, version) if noted else (version, None)
                    if missed:
                        index.version = index.noted_version = None
                sure = yield from find(index)
                return (yield from self._hits.told(index, (), sure, 1, raw=True, noted_only=noted))
            except MovedError as error:
                moved = error.chunks
            except ArchiveError as error:
                missed.append(str(error))
        return []

    def _sure(self, index: RecallIndex, snapshot: Snapshot, query: Query) -> Steps[list[Hit]]:
        """What answers a query surely, of what a context does not show anyway."""
        yield from self._fetch_answers(index, query)
        index.retracted = {**index.retracted, snapshot.thread.id: snapshot.marks}  # what it has may be older
        alone = snapshot.scope.thread is not None or not snapshot.thread.reads_memory
        past = index.past(snapshot.thread.id, alone=alone)
        vocabulary = None if alone else self._vocabulary(index)  # one thread of many is faster without
        hits = search(past, query, limit=HITS, vocabulary=vocabulary)
        return [hit for hit in hits if hit.certainty >= SURE]

    def _noted(self, index: RecallIndex, query: Query) -> Steps[list[Hit]]:
        """What answers a query surely of what another memory has noted."""
        yield from self._fetch_answers(index, query)
        hits = search(index.noted(), query, limit=HITS, vocabulary=self._vocabulary(index))
        return [hit for hit in hits if hit.certainty >= SURE]

    def recall_all(self, resource: str, ask: ComposedAsk, asked: RecallQuery) -> Steps[Recalled]:
        """The same in a memory and in those that are composed with it: the best of each first, the own before others'.

        Their scores are no measure of each other's: the rarer a word in a memory, the more it is worth there.
        Threads that a call names are the resource's own: a thread of that name in another memory may leave no memory.
        """
        if asked.threads or asked.query.threads:
            ask = ask.without(ask.names, _NAMES_THREADS)
        if asked.query.reason or not ask.memories:
            own = yield from self.recall(resource, asked)
            return msgspec.structs.replace(own, left_out=ask.left_out) if ask.left_out else own
        each = asked._replace(offset=0, limit=asked.offset + asked.limit + 1, max_tokens=None)
        found, left_out = [(yield from self.recall(resource, each))], dict(ask.left_out)
        for name in ask.names:
            try:
                other = yield from self._recall_other(name, each)
            except CANNOT_BE_READ as error:
                other = why_left_out(error)
            if isinstance(other, str):
                left_out[name] = other
            else:
                found.append(other)
        hits = self._ranked(asked.query, merged([one.hits for one in found]))
        missing = next((one.partial for one in found if one.partial), "")
        return msgspec.structs.replace(self._page(asked, hits), partial=missing, left_out=left_out)

    def _recall_other(self, resource: str, asked: RecallQuery) -> Steps[Recalled | str]:
        """What another memory says, or why it is left out."""
        if (yield from reading.stored_scope(self._keys, resource)) == "thread":
            return reading.APART
        return (yield from self.recall(resource, asked))

    def _settled(self, resource: str, find: Callable[[RecallIndex], Steps[T]]) -> Steps[tuple[T, str]]:
        """What is found in the index as of now; looked for again where something moved meanwhile.

        And why what was archived is not among it, "" if it is: that is looked through as far as the archive answers.
        """
        moved, missed = frozenset[str](), (yield from Leniently())
        for tried in range(_TRIES):
            try:
                index = yield from self._index(resource, moved, anew=tried > 1, missed=missed)
                found = yield from find(index)
                index.aside = {} if missed else index.aside  # what was left out is read once the archive answers
                return found, missed[0] if missed else ""
            except MovedError as error:
                moved = error.chunks
            except ArchiveError as error:
                missed.append(str(error))
        raise StoreError(f"{resource} changes faster than it can be searched: repeat.", stored=False)

    # -- what there is to search -----------------------------------------------------------------------------------------

    def _index(
        self,
        resource: str,
        moved: frozenset[str] = frozenset(),
        *,
        anew: bool = False,
        missed: Sequence[str] = (),
        most: int | None = None,
    ) -> Steps[RecallIndex]:
        """All that can be searched, as of now. What went between two looks is looked for again; gone twice, it has expired.

        Chunks that have `moved` are read again; with `anew` all are. Where something was `missed` what was archived is left out.
        Of more than `most` raw messages only the newest are read.
        """
        known = None if anew else self._indexes.get(resource)
        index = (known or RecallIndex(resource, self._settings.for_agent(resource).recall.language)).copy()
        index.drop(moved)
        before: frozenset[str] = frozenset()
        for _ in range(_TRIES):
            newest = 0 if most is None else index.newest
            listed = yield from listing(self._keys, resource, index.threads, index.word, most, newest)
            lacking = index.look(listed)
            found = yield from self._read(resource, lacking, any_far=bool(listed.archived), far=not missed)
            stray = index.stray(found)
            index.learn(found, (yield from reading.own_calls(self._keys, resource, stray)) if stray else None)
            gone = frozenset(lacking.keys() - found.keys())
            if gone <= before:
                index.lose(gone - (yield from self._archived(resource, gone, far=not missed)))
                break
            before = gone
        if missed:
            index.leave_out((yield from distant.archived(self._keys, resource, listed.sources)))
            return index
        self._indexes.put(resource, index, index.weight)
        return index

    def _archived(self, resource: str, names: Collection[str], *, far: bool) -> Steps[AbstractSet[str]]:
        """Which of those that were not read are archived, and so are not over; raises ArchiveError where they should be `far`.

        Time 0: the archive is away, and we recall without it. Time 1: it is back: what we left out must be looked for again.
        """
        kept = (yield from distant.archived(self._keys, resource, names)) if names else {}
        if kept and far:
            kept = yield from distant.lacking(self._keys, resource, kept)
            if kept:
                raise lacks(resource, kept)
        return frozenset(kept)

    def _read(
        self, resource: str, lacking: Mapping[str, MemoryPlace], *, any_far: bool, far: bool
    ) -> Steps[dict[str, Kept | Distant]]:
        """Segments of what stands in Redis, and heads of what was archived, unless that is left out."""
        marks = (yield from distant.archived(self._keys, resource, lacking)) if lacking and any_far else {}
        near = {name: place for name, place in lacking.items() if name not in marks}
        found: dict[str, Kept | Distant] = {**(yield from segments(self._keys, resource, near))}
        return found | (yield from distant.heads(self._keys, resource, marks)) if marks and far else found

    def _fetch(self, index: RecallIndex, names: Callable[[Mapping[str, Distant]], Steps[set[str]]]) -> Steps[None]:
        """Have read what was archived of those chunks whose `names` may answer; those of an older version as messages."""
        if not (far := index.distant()):
            return
        resource = index.resource
        marks = yield from distant.archived(self._keys, resource, far)
        # what came back stands in Redis, and no database finds it
        wanted = (far.keys() - marks.keys()) | ((yield from names(far)) & far.keys())
        if not wanted:
            return
        marks = {name: mark for name, mark in marks.items() if name in wanted}
        found: dict[str, Kept] = {**(yield from distant.fetched(self._keys, resource, marks))}
        rest = {name: index.scope_of(name) for name in wanted - found.keys()}
        index.learn(found | (yield from segments(self._keys, resource, rest)))
        self._indexes.put(resource, index, index.weight)

    def _fetch_answers(self, index: RecallIndex, query: Query) -> Steps[None]:
        """Have read what was archived and may answer a query."""

        def names(far: Mapping[str, Distant]) -> Steps[set[str]]:
            terms = sought(query, frozenset().union(*(part.languages for part in far.values())))
            return (yield from distant.answering(self._keys, index.resource, terms, query.periods))

        yield from self._fetch(index, names)

    def _vocabulary(self, index: RecallIndex) -> Vocabulary:
        """The words of an index, which takes some more of them in, and weighs more then."""
        vocabulary = index.vocabulary()
        self._indexes.put(index.resource, index, index.weight)
        return vocabulary

    # -- what is found ---------------------------------------------------------------------------------------------------

    def _answer(self, index: RecallIndex, scopes: Sequence[Scope], asked: RecallQuery) -> Steps[Recalled]:
        if "message" in asked.kinds:
            yield from self._fetch_answers(index, asked.query)
        aside = yield from self._set_aside(index, asked)
        known = {name for found in aside for name in found.groups}
        notes = yield from noted_parts(self._keys, scopes, asked.kinds, index.language, known)
        notes += [part for found in aside for part in found.parts]
        query, wanted = asked.query, asked.offset + asked.limit
        named = asked.threads | {*query.threads}
        parts = [*(index.parts(named) if "message" in asked.kinds else ()), *(noted.part for noted in notes)]
        hits = search(
            parts,
            query,
            threads=asked.threads,
            roles=asked.roles,
            after=asked.after,
            before=asked.before,
            limit=self._pool(query, wanted + 1),
            vocabulary=self._vocabulary(index),
        )
        found: list[RecalledHit] = []
        step = max(len(hits), 1) if self._ranker else wanted + 1
        for start in range(0, len(hits), step):
            some = yield from self._hits.told(index, notes, hits[start : start + step], asked.around, named=named)
            found += [hit for hit in some if query.admits(hit.text)]
            if len(found) > wanted:
                break
        return self._page(asked, self._ranked(query, found))

    def _set_aside(self, index: RecallIndex, asked: RecallQuery) -> Steps[list[SetAside]]:
        """What memories have set aside in groups, each read once while none of it changes."""
        if not asked.kinds & {"message", "observation"}:
            return []
        for place in index.memories:
            if place not in index.aside and place.generation not in {"", "0"}:
                found = yield from set_aside(self._keys, place.scope, index.language)
                index.aside = {**index.aside, place: found}
        return list(index.aside.values())

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

    def _browsed(self, index: RecallIndex, message: str, before: int, after: int, thread: str | None) -> Steps[Browsed]:
        yield from self._fetch(index, lambda _: distant.holding(self._keys, index.resource, message, thread))
        named = {thread} if thread else ()
        for at in index.find(message, thread):
            (found,) = yield from self._hits.beside(index, [at], before, after, named=named)
            if found and found.message.id == message:
                return _browsed(found, index.retracted.get(found.message.thread_id, ()))
        return Browsed(message=None)


def unanswered(messages: Sequence[Message]) -> Message | None:
    """The user's newest message, unless the Actor has answered it: calls of tools are no answer yet."""
    for message in reversed(messages):
        if message.role == "user":
            return message
        if message.role == "assistant" and message.text().strip() and not any(exchanges([message])[0].calls):
            return None
    return None


def merged(found: Sequence[Sequence[RecalledHit]]) -> list[RecalledHit]:
    """Hits of several memories: the first of each, then the second of each, in the order of the memories."""
    return [hit for row in zip_longest(*found) for hit in row if hit is not None]


def _version(snapshot: Snapshot) -> object:
    """What moves when anything is sealed, activated or removed, or is said in another thread; None where nobody can tell."""
    if snapshot.scope.thread is not None:
        return None
    others = {name: counts for name, counts in snapshot.unsealed.items() if name != snapshot.thread.id}
    return snapshot.record.epoch, snapshot.record.seq, snapshot.record.generation, others


def _browsed(found: Surroundings, marks: Collection[bytes]) -> Browsed:
    return Browsed(
        message=found.message,
        before=found.before,
        after=found.after,
        earlier=found.earlier,
        later=found.later,
        retracted=retracted_ids((*found.before, found.message, *found.after), marks),
    )


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

"""What a client knows of the words of one resource's messages: segments it has read, which never change, and what is raw."""

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from copy import copy
from functools import partial
from typing import TypeAlias

from om_api.client.recall.recall_notes import SetAside
from om_api.domain.messages import Message
from om_api.domain.tool_calls import has_stray_results
from om_api.recall.distant import Distant
from om_api.recall.loose import Loose
from om_api.recall.segment import Segment, check_of
from om_api.recall.vocabulary import Vocabulary
from om_api.store.index.indexing import findable, of_messages
from om_api.store.index.listing import Listing, MemoryPlace
from om_api.store.index.segments import Kept, Members, Stretch
from om_api.store.memory.decode_cache import NO_MEMBERS, Met
from om_api.store.memory.decoding import message_of

Part: TypeAlias = Segment | Loose | Distant
_TAKEN = 400_000  # terms at one look
_STALE = 2  # times as many terms taken in as there are: then it is made anew
_PART = 2_000  # bytes: an empty one
_TERM = 12  # bytes: one of a message in a segment
_LOOSE_TERM = 120  # bytes: one of a message in none
_WORD = 300  # bytes: one of the vocabulary


class RecallIndex:
    """The parts of one resource that can be searched, by chunk; each is that chunk's for good within the epoch of its memory.

    Whoever searches one may be interrupted by whoever looks again: that is done in a `copy`, so that this one stays what it was.
    """

    def __init__(self, resource: str, language: str) -> None:
        self.resource, self.language = resource, language
        self.threads: frozenset[str] = frozenset()
        self.word: str | None = None
        self.newest = 0  # raw messages of each thread that were read, 0 = all
        self._skipped: Mapping[str, int] = {}
        self.version: object = None
        self.noted_version: object = None  # the same of what others are shown of it
        self._parts: dict[tuple[str, str], Part] = {}
        self._gone: frozenset[tuple[str, str]] = frozenset()
        self._present: list[tuple[str, str]] = []
        self._raw: dict[str, Met[Message | None]] = {}
        self._loose: dict[str, Loose] = {}
        self._own_calls: Mapping[str, tuple[str, ...]] = {}  # by thread, ids of own calls in earlier chunks
        self._vocabulary, self._asked = Vocabulary(), False
        self._places: Mapping[str, MemoryPlace] = {}
        self._activated: Mapping[str, MemoryPlace] = {}
        self._sealed: _Sealed | None = None  # made when it is asked for
        self.memories: Sequence[MemoryPlace] = ()
        self._forgetful: frozenset[str] = frozenset()  # threads that leave no memory
        self.retracted: Mapping[str, frozenset[bytes]] = {}  # marks of retracted messages, by thread
        self.aside: Mapping[
            MemoryPlace, SetAside
        ] = {}  # of each memory as it is now what it set aside, once it was read
        self.standing: Mapping[object, frozenset[str]] = {}  # by generation the observations that it stands for

    def copy(self) -> "RecallIndex":
        """The same, to be looked at again."""
        return copy(self)

    @property
    def weight(self) -> int:
        """About how many bytes of memory it takes."""
        parts = [part for part in (*self._parts.values(), *self._loose.values()) if not isinstance(part, Distant)]
        loose = sum(part.length for part in parts if isinstance(part, Loose))
        packed = max(sum(part.length for part in parts) - loose, self._vocabulary.length)  # some of it may be gone
        aside = sum(each.weight for each in self.aside.values())
        return aside + _PART * len(parts) + _LOOSE_TERM * loose + _TERM * packed + _WORD * self._vocabulary.words

    def look(self, listed: Listing) -> dict[str, MemoryPlace]:
        """Take in what there is now; the chunks of which nothing is known yet."""
        self.threads, self.word, self._places = listed.threads, listed.scope, {**listed.sources, **listed.chunks}
        self._activated, self.memories, self.retracted = listed.sources, listed.memories, listed.retracted
        self.newest, self._skipped, self._forgetful = listed.newest, listed.skipped, listed.forgetful
        self.aside = {place: found for place, found in self.aside.items() if place in self.memories}
        present = [(place.epoch, name) for name, place in self._places.items()]
        if present != self._present:
            self._present, self._sealed, kept = present, None, frozenset(present)
            self._parts = {at: part for at, part in self._parts.items() if at in kept}
            self._gone = self._gone & kept
        self._take_raw(listed)
        lacking = [at for at in present if at not in self._parts and at not in self._gone]
        return {name: self._places[name] for _, name in lacking}

    def _take_raw(self, listed: Listing) -> None:
        raw, loose = self._raw, self._loose
        self._raw, self._loose = {}, {}
        for thread, pairs in listed.raw.items():
            before = raw.get(thread, NO_MEMBERS)
            met = before.again(pairs, partial(message_of, thread=thread, resource=self.resource))
            self._raw[thread] = met
            known = loose.get(thread) if met is before else None
            self._loose[thread] = known or self._as_loose(thread, met)

    def _as_loose(self, thread: str, met: Met[Message | None]) -> Loose:
        return Loose(thread, of_messages(met.values, self._own_calls.get(thread, ())), self.language)

    def stray(self, found: Mapping[str, Kept | Distant]) -> set[str]:
        """Threads with raw messages, or with chunks `found` without an index, that may answer calls of earlier chunks."""
        raw = {thread for thread, met in self._raw.items() if has_stray_results(met.values)}
        return raw | {kept.thread for kept in found.values() if isinstance(kept, Members)}

    def learn(
        self, found: Mapping[str, Kept | Distant], own_calls: Mapping[str, tuple[str, ...]] | None = None
    ) -> None:
        """Add chunks that were read; `own_calls` are ids of own tools' calls in earlier chunks."""
        changed = {name for name, ids in (own_calls or {}).items() if ids != self._own_calls.get(name, ())}
        self._own_calls = {**self._own_calls, **(own_calls or {})}
        self._loose |= {name: self._as_loose(name, self._raw[name]) for name in changed & self._raw.keys()}
        self._sealed = None if found else self._sealed
        self._parts = self._parts | {(self._places[name].epoch, name): self._part(kept) for name, kept in found.items()}

    def distant(self) -> dict[str, Distant]:
        """What was not fetched yet, by chunk."""
        named = ((name, self._parts.get((place.epoch, name))) for name, place in self._places.items())
        return {name: part for name, part in named if isinstance(part, Distant)}

    def leave_out(self, names: Collection[str]) -> None:
        """Go on without some chunks, though they are kept."""
        self._places = {name: place for name, place in self._places.items() if name not in names}
        self._present, self._sealed = [(place.epoch, name) for name, place in self._places.items()], None

    def _part(self, kept: Kept | Distant) -> Part:
        if isinstance(kept, Members):
            return Loose(
                kept.thread,
                findable(kept.pairs, kept.thread, self.resource, self._own_calls.get(kept.thread, ())),
                self.language,
            )
        return kept

    def lose(self, names: Iterable[str]) -> None:
        """Take note that nothing is kept of these any more: their messages have expired."""
        self._gone |= {(self._places[name].epoch, name) for name in names}

    def drop(self, names: Collection[str]) -> None:
        """Have chunks read again that are not what they were."""
        self._sealed = None if names else self._sealed
        self._parts = {at: part for at, part in self._parts.items() if at[1] not in names}

    def parts(self, threads: Collection[str] = ()) -> list[Part]:
        """All that can be searched; raw messages of a thread that leaves no memory only where `threads` names it."""
        return [part for name, part in self._named() if self._is_open(name, part.thread, threads)]

    def _is_open(self, chunk: str, thread: str, threads: Collection[str]) -> bool:
        return bool(chunk) or thread not in self._forgetful or thread in threads

    def past(self, thread: str, *, alone: bool = False) -> list[Part]:
        """What of all that a context of a thread does not show as it was said; `alone`: of what that thread said itself."""
        return [
            part
            for name, part in self._named()
            if name in self._activated or part.thread != thread
            if part.thread == thread or not alone
            if self._is_open(name, part.thread, ())
        ]

    def noted(self) -> list[Part]:
        """What observations stand for: all of a memory that is composed into others' contexts."""
        return [part for name, part in self._named() if name in self._activated]

    def vocabulary(self) -> Vocabulary:
        """The words of segments in tables; each look takes some more in, lest one of them be much longer than the others."""
        segments = [part for part in self._parts.values() if isinstance(part, Segment)]
        if self._vocabulary.length > _STALE * sum(segment.length for segment in segments):
            self._vocabulary = Vocabulary()
        if self._asked:
            self._vocabulary.take(segments, _TAKEN)
        self._asked = True
        return self._vocabulary

    def is_activated(self, chunk: str) -> bool:
        """Whether an observation stands for a chunk in contexts."""
        return chunk in self._activated

    def group_of(self, chunk: str) -> str:
        """The group in which what stands for a chunk was set aside, as far as that was read; "" for none."""
        return next((found.groups[chunk] for found in self.aside.values() if chunk in found.groups), "")

    def name(self, part: object) -> str:
        """The chunk that a part is of; "" is what is raw."""
        return self._of_chunks().names.get(id(part), "")

    def _named(self) -> Iterator[tuple[str, Part]]:
        yield from self._of_chunks().named
        for loose in self._loose.values():
            yield "", loose

    def _of_chunks(self) -> "_Sealed":
        if self._sealed is None:
            parts = ((name, self._parts.get((place.epoch, name))) for name, place in self._places.items())
            self._sealed = _Sealed([(name, part) for name, part in parts if part])
        return self._sealed

    def order(self, thread: str, named: Collection[str] = ()) -> list[Stretch]:
        """All that can be shown of a thread, oldest first: raw messages come last.

        Of a thread that leaves no memory these are shown only if it is `named`.
        """
        loose = self._loose.get(thread) if self._is_open("", thread, named) else None
        return [
            *self._of_chunks().order(thread),
            *([Stretch(thread, "", 0, loose.size - 1)] if loose and loose.size else ()),
        ]

    def find(self, message: str, thread: str | None) -> Iterator[Stretch]:
        """Where a message of this id may stand: a segment knows ids by a few bytes of them."""
        for name, part in self._named():
            if thread == part.thread or (thread is None and self._is_open(name, part.thread, ())):
                size = 0 if isinstance(part, Distant) else part.size
                places = (place for place in range(size) if part.check(place) == check_of(message))
                yield from (Stretch(part.thread, name, place, place) for place in places)

    def raw(self, part: Stretch) -> list[Message | None]:
        """Messages that are raw; None for what is no message."""
        return self._raw[part.thread].values[part.first : part.last + 1]

    def ranked(self, part: Stretch) -> Stretch:
        """The same with the ranks of its messages in the store, which differ if older raw ones were not read."""
        skipped = 0 if part.chunk else self._skipped.get(part.thread, 0)
        return part._replace(first=part.first + skipped, last=part.last + skipped)

    def scope_of(self, chunk: str) -> MemoryPlace:
        """Whose a chunk is."""
        return self._places[chunk]


class _Sealed:
    """What stands in chunks, as it is asked for while none of them changes."""

    def __init__(self, named: list[tuple[str, Part]]) -> None:
        self.named = named
        self.names = {id(part): name for name, part in named}
        self._orders: dict[str, list[Stretch]] = {}

    def order(self, thread: str) -> list[Stretch]:
        """The whole of each chunk of a thread, oldest first."""
        if thread not in self._orders:
            own = [(name, part) for name, part in self.named if part.thread == thread and part.size]
            own.sort(key=lambda named: named[1].at(0))
            self._orders[thread] = [Stretch(thread, name, 0, part.size - 1) for name, part in own]
        return self._orders[thread]

"""What recall found, as it is told: with what it says, the turns around it, and what stands for it in contexts."""

from collections.abc import Collection, Sequence

import msgspec

from om_api.client.recall.around import PAD, WIDE, Surroundings, Window, surroundings, window
from om_api.client.recall.recall_index import RecallIndex
from om_api.client.recall.recall_notes import NotedPart
from om_api.domain.histories.retraction import retracted_ids
from om_api.domain.messages import Message
from om_api.domain.notes.lineage import covered
from om_api.domain.tool_calls import OwnCalls
from om_api.recall.recalled import RecalledHit
from om_api.recall.said import said
from om_api.recall.searching import Hit
from om_api.recall.segment import check_of
from om_api.store.driver.steps import Steps
from om_api.store.index.listing import MemoryPlace
from om_api.store.index.segments import Stretch, stretches
from om_api.store.memory import reading
from om_api.store.memory.keys import Keys


class MovedError(Exception):
    """What was found is not where it was: a chunk was split, erased from or cleared meanwhile, or has expired."""

    def __init__(self, *chunks: str) -> None:
        super().__init__(*chunks)
        self.chunks = frozenset(chunks)


class Hits:
    """Reads what stands at the places that a search found, and beside them."""

    def __init__(self, keys: Keys) -> None:
        self._keys = keys

    def told(
        self,
        index: RecallIndex,
        notes: Sequence[NotedPart],
        hits: Sequence[Hit],
        around: int,
        *,
        named: Collection[str] = (),
        raw: bool = False,
        noted_only: bool = False,
    ) -> Steps[list[RecalledHit]]:
        """Hits with what they say, in their order, those of messages in their surroundings.

        With `raw` what is raw is read again too: the index may be of a while ago. With `noted_only` nothing stands beside a
        message that no observation stands for. Raw messages of a thread that leaves no memory are shown only if it is `named`.
        MovedError where something is gone.
        """
        noted = {id(each.part): each.hits for each in notes}
        messages = [hit for hit in hits if id(hit.source) not in noted]
        places = [Stretch(hit.source.thread, index.name(hit.source), hit.place, hit.place) for hit in messages]
        beside = yield from self.beside(index, places, around, around, named=named, raw=raw, noted_only=noted_only)
        covers = yield from self._covers(index, {place.chunk for place in places} - {""})
        told = {
            (id(hit.source), hit.place): _of_message(
                hit, found, place.chunk, covers.get(place.chunk, ""), index.retracted.get(place.thread, ())
            )
            for hit, place, found in zip(messages, places, beside, strict=True)
            if found
        }
        for hit in hits:
            if notes_of := noted.get(id(hit.source)):
                told[id(hit.source), hit.place] = _of_note(hit, notes_of[hit.place])
        found = (told[at] for hit in hits if (at := (id(hit.source), hit.place)) in told)
        return [msgspec.structs.replace(hit, resource_id=index.resource) for hit in found]

    def beside(
        self,
        index: RecallIndex,
        places: Sequence[Stretch],
        before: int,
        after: int,
        *,
        named: Collection[str] = (),
        raw: bool = False,
        noted_only: bool = False,
    ) -> Steps[list[Surroundings | None]]:
        """What stands beside messages, None for what is none. Where that cuts a call from its results they are read once more."""
        orders = {thread: index.order(thread, named) for thread in {at.thread for at in places}}
        if noted_only:
            orders = {
                thread: [part for part in order if index.is_activated(part.chunk)] for thread, order in orders.items()
            }
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
        """The messages of windows, in one round trip; MovedError where some of them are not there any more."""
        wanted = list(dict.fromkeys(part for each in windows for part in each.stretches if part.chunk or raw))
        found = dict[Stretch, list[Message | None]]()
        if wanted:
            ranked = [index.ranked(part) for part in wanted]
            found = dict(zip(wanted, (yield from stretches(self._keys, index.resource, ranked)), strict=True))
        if moved := {part.chunk for part, messages in found.items() if _has_moved(index, part, messages)}:
            raise MovedError(*moved)
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
                aside = index.group_of(chunk)
                within = f"group {aside}" if aside else f"generation {place.generation}"
                found[chunk] = within if chunk in stands or aside else f"observation {chunk}"
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


def _surroundings(messages: Sequence[Message | None], own: Window, before: int, after: int) -> Surroundings | None:
    if messages[own.place] is None:
        return None
    found = surroundings(messages, own.place, before, after)
    return found._replace(earlier=found.earlier or own.earlier, later=found.later or own.later)


def _is_cut(found: Surroundings | None, own: Window) -> bool:
    return found is not None and not found.whole and (own.earlier or own.later)


def _of_message(hit: Hit, found: Surroundings, chunk: str, covers: str, marks: Collection[bytes]) -> RecalledHit:
    if hit.source.check(hit.place) != check_of(found.message.id):
        raise MovedError(chunk)
    before, own, after = _without_own(found)
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
        weights=hit.weights,
        covered_by=covers,
        message=own,
        before=before,
        after=after,
        retracted=retracted_ids((*before, own, *after), marks),
    )


def _without_own(found: Surroundings) -> tuple[tuple[Message, ...], Message, tuple[Message, ...]]:
    """A message and the turns around it, without calls of this memory's own tools and their results."""
    own = OwnCalls()
    before = [(message, own.without(message)) for message in found.before]
    message = own.without(found.message)
    after = [(message, own.without(message)) for message in found.after]
    return _turns(before), message, _turns(after)


def _turns(messages: Sequence[tuple[Message, Message]]) -> tuple[Message, ...]:
    return tuple(left for message, left in messages if left is message or left.content)


def _of_note(hit: Hit, note: RecalledHit) -> RecalledHit:
    return msgspec.structs.replace(
        note, score=hit.score, certainty=hit.certainty, matched=hit.words, weights=hit.weights
    )


def _has_moved(index: RecallIndex, part: Stretch, messages: Sequence[Message | None]) -> bool:
    return len(messages) != part.size or (not part.chunk and messages != index.raw(part))

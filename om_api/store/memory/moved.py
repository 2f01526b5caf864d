"""What a scope's memory is made of after a move: a thread's share of a pool, or a pool of what its threads hold."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from heapq import merge
from typing import NamedTuple

import msgspec

from om_api.domain import pieces
from om_api.domain.kept.extractors import Extracted, of_several
from om_api.domain.notes.catalogue import Catalogued
from om_api.domain.notes.pins import Notes, Pin
from om_api.domain.pieces import Lead, Slice
from om_api.domain.values import Generation, Scope, Stored
from om_api.store.memory.content import Content


class Moved(NamedTuple):
    """One scope's memory as it will be. `generation` is what leads it, its tokens not yet counted; None for nothing.

    Seqs are those that its parts will have, the last one drawn is `seq`; up to `pool_seq` they are those of the pool it
    comes from. `pins` are the lines that are pinned, `created_at` (Unix ms, "" = never) is since when there was a memory,
    and `told` up to which seq each other memory was told what it is to be told.
    """

    scope: Scope
    observations: list[Stored]
    history: list[Stored]
    generation: Generation | None
    seq: int
    pool_seq: int
    pins: tuple[Pin, ...] = ()
    created_at: str = ""
    told: Mapping[str, float] = {}

    @property
    def takes(self) -> bool:
        """Whether another memory shared something with it."""
        return any(stored.observation.shared_from for stored in (*self.observations, *self.history))


def to_threads(pool: Content, threads: Sequence[str]) -> list[Moved]:
    """Each thread's own sections and observations; what stands outside of sections is common and goes to all of them."""
    generation = pool.in_force
    known = {*threads, *(stored.observation.thread_id for stored in (*pool.observations, *pool.history))}
    found = pieces.of_pool(_lead(pool, generation), known) if generation else []
    known |= {each.piece.thread for each in found if each.piece.thread}
    moved = [_of_thread(pool, name, pieces.of_thread(found, name)) for name in sorted(known)]
    return [each for each in moved if each.observations or each.history or (each.generation and each.generation.text)]


def _lead(part: Content, generation: Generation) -> Lead:
    return Lead(f"{part.epoch}:{generation.n}", generation)


def _of_thread(pool: Content, name: str, share: Sequence[Slice]) -> Moved:
    own, generation = pool.of_thread(name), pool.in_force
    leads = [msgspec.structs.replace(generation, extracted=_said_of(name, generation))] if generation else []
    seq = int(float(pool.seq))
    scope, made = Scope(pool.scope.resource, name), _made(leads, share, own.history, pooled=False)
    held = _notes(scope, own.observations, made)
    pins = tuple(pin for pin in pool.pins if pin.thread in {"", name} and held.hold(pin))
    return Moved(scope, own.observations, own.history, made, seq, seq, pins, pool.created_at, pool.told)


def _said_of(name: str, generation: Generation) -> Extracted:
    return {of: values for of, values in generation.extracted.items() if of in {"", name}}


def _notes(scope: Scope, observations: Sequence[Stored], made: Generation | None) -> Notes:
    return Notes.of([made] if made else [], [stored.observation for stored in observations], scope)


def to_pool(resource: str, parts: Sequence[Content]) -> Moved:
    """What threads hold, in one: what came from a pool in its old order, then what came since, by time."""
    leads = {str(part.scope.thread): _lead(part, generation) for part in parts if (generation := part.in_force)}
    share = pieces.of_threads(leads, [str(part.scope.thread) for part in parts])
    past = _in_order(parts, lambda part: part.history)
    # fresh seqs, history first: those that several threads drew since would collide
    was = [*past, *_in_order(parts, lambda part: part.observations)]
    fresh = [stored._replace(seq=seq) for seq, stored in enumerate(was, 1)]
    history, observations = fresh[: len(past)], fresh[len(past) :]
    made = _made([lead.generation for lead in leads.values()], share, history, pooled=True)
    pins = _pins(parts, _notes(Scope(resource), observations, made))
    began = min((part.created_at for part in parts if part.created_at), default="")
    return Moved(Scope(resource), observations, history, made, len(fresh), 0, pins, began, _told(parts, was, len(past)))


def _told(parts: Sequence[Content], stored: Sequence[Stored], past: int) -> dict[str, float]:
    """How many of what is stored, in this order, each other memory was told by its threads, up to the first that it was not.

    Of what is `past` nothing is told any more.
    """
    by_thread = {part.scope.thread: part.told for part in parts}
    up_to = [by_thread.get(each.observation.thread_id, {}) for each in stored]
    targets = {target for told in by_thread.values() for target in told}
    return {
        target: next((n for n in range(past, len(stored)) if stored[n].seq > up_to[n].get(target, 0)), len(stored))
        for target in targets
    }


def _pins(parts: Sequence[Content], pool: Notes) -> tuple[Pin, ...]:
    """What is pinned of a pool: what was common is common again, once, and its thread's where it stands there alone."""
    found = dict[str, Pin]()
    for part in parts:
        own = str(part.scope.thread)
        for pin in part.pins:
            alone = msgspec.structs.replace(pin, id=f"{pin.id}.{own}", thread=own)
            stands = next((each for each in (pin, alone) if pool.hold(each)), None)
            if stands:
                found[stands.id] = stands
    return tuple(found.values())


def _in_order(parts: Sequence[Content], which: Callable[[Content], list[Stored]]) -> list[Stored]:
    """Of each thread in its own order."""
    pooled = [stored for part in parts for stored in which(part) if stored.seq <= part.pool_seq]
    since = ([stored for stored in which(part) if stored.seq > part.pool_seq] for part in parts)
    later = merge(*since, key=lambda stored: (stored.observation.created_at, stored.observation.to))
    return [*sorted(pooled, key=lambda stored: stored.seq), *later]


def _made(
    leads: Sequence[Generation], found: Sequence[Slice], history: Sequence[Stored], *, pooled: bool
) -> Generation | None:
    """The first generation of a moved memory, after the newest of those that it is made of."""
    text, dropped = pieces.text_of(found, pooled=pooled), {name for lead in leads for name in lead.dropped_ids}
    if not leads or not (text or history):
        return None
    return msgspec.structs.replace(
        max(leads, key=lambda generation: generation.created_at),
        n=1,
        origin="restore",
        restores=None,
        text=text,
        observation_ids=tuple(stored.observation.id for stored in history),
        dropped_ids=tuple(stored.observation.id for stored in history if stored.observation.id in dropped),
        patterns=_still_said((each.patterns for each in leads), text),
        insights=_still_said((each.insights for each in leads), text),
        loss=None,
        candidates=(),
        extracted=of_several(lead.extracted for lead in leads),
        pieces=tuple(each.piece for each in found),
        groups=Catalogued.of(text, pooled=pooled).groups,
    )


def _still_said(readings: Iterable[Sequence[str]], text: str) -> tuple[str, ...]:
    said = {reading for some in readings for reading in some if reading in text}
    return tuple(sorted(said, key=text.find))

"""Reading a memory: one MULTI/EXEC whose key names come from the last look, done again only if it names a key unread."""

from collections.abc import Collection, Iterable, Mapping, Sequence
from functools import partial
from typing import Any, NamedTuple, TypeAlias

import msgspec

from om_api.domain.histories.retraction import quotes_of, standing
from om_api.domain.messages import Message
from om_api.domain.snapshot import ComposedNotes, Snapshot
from om_api.domain.values import Chunk, Generation, Observation, Scope, Stored, ThreadState, to_ms
from om_api.store.driver.replies import Pair, as_bytes, as_float, as_hash, as_int, as_list, as_pairs, command, server_ms
from om_api.store.driver.steps import Batch, Steps, Verb, batch, by_name, each
from om_api.store.memory.composing import ComposedReader
from om_api.store.memory.context_query import (
    EXCERPT_MESSAGES,
    OTHERS,
    OTHERS_CHUNKS,
    Answers,
    HeldMemory,
    Names,
    answers,
    commands,
)
from om_api.store.memory.decode_cache import FIELD, Past, weight_of_hash
from om_api.store.memory.decoding import (
    AWAY,
    as_chunk,
    as_generation,
    as_stored,
    as_thread,
    held_of,
    messages_of,
    observable_threads,
)
from om_api.store.memory.instant import lasts
from om_api.store.memory.keys import Keys, ResourceKeys, histories, working_fields
from om_api.store.memory.known import retracted

_TRIES = 3
_FEW = 8  # chunks that are read whole before it is known of which threads they are: it saves a round trip
MOST_GENERATIONS = 2**53  # what a score holds exactly
_ASKED_AT_ONCE = 500  # threads in one batch
APART = "each of its threads has a memory of its own (scope: thread), and none is of all"
_TIMES_REFLECTED = 4  # a generation is kept as it was read, as it says, as a block and in the text of all blocks


def scope_in_force(keys: Keys, resource: str, thread: str | None, configured: str) -> Steps[Scope]:
    """The scope that covers a thread: the stored one, or the configured one while nothing was ever sealed."""
    return as_scope(resource, thread, (yield from stored_scope(keys, resource)) or configured)


def as_scope(resource: str, thread: str | None, word: str) -> Scope:
    """The scope of a thread when memories cover `word` (resource or thread)."""
    return Scope(resource, thread) if word == "thread" and thread is not None else Scope(resource)


NotesByName: TypeAlias = Mapping[str, ComposedNotes | None]


class Beside(NamedTuple):
    """What is read in the same round trip: other memories' notes, of which their reader holds some; an alias by `name`."""

    resources: Sequence[str]
    reader: ComposedReader
    name: str = ""


def snapshot(
    keys: Keys,
    resource: str,
    thread: str,
    known: Names,
    past: Past | None = None,
    configured: Scope | None = None,
    beside: Beside | None = None,
) -> Steps[tuple[Snapshot, Names]]:
    """Everything a thread's context is made of, at one instant, and the names to begin with next time.

    One round trip while `known` is true, with the notes of memories `beside` (on a Cluster of each at an instant of its own); one
    more whenever a chunk was sealed or a thread began. With a `past` only what is new is decoded: change nothing of it.
    """
    past, unset, beside = past or Past(), configured or known.scope, beside or Beside((), ComposedReader())
    for _ in range(_TRIES):
        held = past.held if past.held and past.held.scope == known.scope else None
        found, composed = yield from _looked(keys, thread, known, held, past, beside)
        named = _named(resource, thread, known, found, unset)
        whole = held.whole(found) if held else found.observations
        if named.scope != known.scope:
            known = named
        elif whole is None or composed is None:
            past.held = None if whole is None else past.held
        elif set(named.chunks) <= set(known.chunks) and _is_read(named, known):
            found = yield from _marked(keys, resource, found._replace(observations=whole))
            return _assemble(thread, named, found, past, composed)
        else:
            known = named._replace(chunks=tuple(dict.fromkeys((*named.chunks, *known.chunks))))
    found, known = yield from _settled(keys.of(resource), thread, known, beside.name)
    sealed = _sealed(thread, known.chunks, found, known.newest)
    known = known._replace(sealed=sealed, owners=_owners(found, sealed))
    found = yield from _marked(keys, resource, found)
    return _assemble(thread, known, found, past, (yield from _noted(keys, beside)))


def _is_read(named: Names, known: Names) -> bool:
    return named.sealed.keys() <= known.sealed.keys() and set(named.others) <= set(known.others)


def _looked(
    keys: Keys, thread: str, known: Names, held: HeldMemory | None, past: Past, beside: Beside
) -> Steps[tuple[Answers, NotesByName | None]]:
    """One look at everything that is named, and what others have noted; None where one of them is another memory by now."""
    own = commands(keys.of(known.scope.resource), thread, known, held, beside.name)
    asked = [*own, *beside.reader.commands(keys, beside.resources)]
    replies = yield from Batch(asked, list[Any], packed=past.pack(tuple(asked)))
    composed = beside.reader.take(beside.resources, replies[len(own) :])
    return answers(replies[: len(own)], thread, known, held), composed


def _marked(keys: Keys, resource: str, found: Answers) -> Steps[Answers]:
    """What was found, with the marks of threads of which only a chunk was named, and not whose it is."""
    if not (lacking := {*_owners(found, found.sealed)} - found.retracted.keys()):
        return found
    more = yield from retracted(keys, resource, lacking)
    return found._replace(retracted={**found.retracted, **more})


def _noted(keys: Keys, beside: Beside) -> Steps[NotesByName]:
    """What others have noted; of one that is another memory by now nothing is held any more at the second look."""
    composed = yield from beside.reader.read(keys, beside.resources)
    return composed or (yield from beside.reader.read(keys, beside.resources)) or {}


def _settled(of: ResourceKeys, thread: str, known: Names, name: str = "") -> Steps[tuple[Answers, Names]]:
    scope = known.scope
    fixed = [of.scope, of.tokens, of.record(scope), of.chunks(scope), of.observations(scope), of.reflections(scope)]
    stems = [of.chunk(""), of.sealed(""), of.messages(""), of.known("")]
    others = OTHERS if scope.thread is None else 0
    names = [*fixed, of.thread(thread), of.messages(thread), of.threads, of.aliases, of.working, *stems]
    args = [thread, EXCERPT_MESSAGES, others, name or thread, known.newest, OTHERS_CHUNKS, *working_fields("", thread)]
    return (yield from Verb("snapshot", names, args, partial(_all_named, known, thread)))


def _all_named(known: Names, thread: str, reply: Any) -> tuple[Answers, Names]:
    replies, chunks, sealed, threads = reply
    known = known._replace(
        chunks=tuple(chunk.decode() for chunk in chunks),
        others=tuple(name.decode() for name in threads),
        sealed={chunk.decode(): 0 for chunk in sealed},
        owners=(),  # of none the marks were read
    )
    return answers(replies, thread, known, None), known


def _named(resource: str, thread: str, known: Names, found: Answers, unset: Scope) -> Names:
    """What the next look must name, by what this one found."""
    stored = found.scope.decode() if found.scope else None
    scope = unset if stored is None else as_scope(resource, thread, stored)
    if scope != known.scope:
        return Names(scope, (), (), newest=known.newest)
    chunks = tuple(chunk.decode() for chunk, _ in found.chunks)
    others: tuple[str, ...] = ()
    if scope.thread is None:
        here = [name for name in observable_threads(found.tokens) if AWAY + name.encode() not in found.tokens]
        newest = [name.decode() for name in found.newest]
        others = newest_others(here, newest, thread)
    sealed = _sealed(thread, chunks, found, known.newest)
    return Names(scope, chunks, others, sealed, known.newest, _owners(found, sealed))


def _owners(found: Answers, chunks: Iterable[str]) -> tuple[str, ...]:
    """The threads that chunks are of, as far as those were read."""
    named = {found.details[chunk].get(b"thread", b"").decode() for chunk in chunks if chunk in found.details}
    return tuple(sorted(named - {""}))


def _sealed(thread: str, chunks: Collection[str], found: Answers, newest: int) -> dict[str, int]:
    """The chunks whose messages a context may show, the newest first, with the rank of the first message that it needs of each.

    All of the thread's own, while `newest` raw messages are not reached; of other threads' newest chunks what an excerpt shows.
    """
    room, others, few = newest - found.members, OTHERS_CHUNKS, sum(name not in found.details for name in chunks) <= _FEW
    sealed: dict[str, int] = {}
    for name in reversed([*chunks]):
        fields = found.details.get(name)
        if fields is None:
            if few:
                sealed[name] = 0
        elif fields.get(b"thread", b"").decode() != thread:
            if others:
                sealed[name], others = -EXCERPT_MESSAGES, others - 1
        elif room > 0:
            sealed[name], room = 0, room - int(fields.get(b"messages", 0))
    return sealed


def newest_others(unsealed: Sequence[str], newest: Sequence[str], thread: str) -> tuple[str, ...]:
    """Up to OTHERS threads but this one with raw messages, newest first.

    `newest` is the head of the workers' index; a thread missing from a short index is one they have not met yet: newest of all.
    """
    missing = -1 if len(newest) < 2 * OTHERS else len(newest)
    place = {name: rank for rank, name in enumerate(newest)}
    ranked = sorted((name for name in unsealed if name != thread), key=lambda name: (place.get(name, missing), name))
    return tuple(ranked[:OTHERS])


def _assemble(thread: str, known: Names, found: Answers, past: Past, composed: NotesByName) -> tuple[Snapshot, Names]:
    unsealed = observable_threads(found.tokens)
    chunks = [as_chunk(name.decode(), seq, found.details[name.decode()]) for name, seq in found.chunks]
    here = {name: AWAY + name.encode() not in found.tokens for name in (*unsealed, *(chunk.thread for chunk in chunks))}
    others = {name: found.others[name] for name in known.others if here.get(name, True)}
    # of another thread's chunk all was read where nobody knew yet whose it is
    sealed = {name: found.sealed[name][start:] for name, start in known.sealed.items()}
    found = found._replace(others=others, sealed=sealed)
    raw = _raw(thread, chunks, found)
    read = past.messages(raw, known.scope.resource)
    messages = {name: standing(some, found.retracted.get(name, ())) for name, some in read.items()}
    past.held, past.beside = _held(known.scope, chunks, found), _beside(found)
    unread = [chunk.messages for chunk in chunks if chunk.thread == thread and chunk.id not in sealed]
    return Snapshot(
        scope=known.scope,
        thread=as_thread(thread, found.state, found.tokens),
        stands_for=(found.stands or b"").decode(),
        record=past.record(found.record),
        messages=messages.pop(thread),
        unread=found.members - len(found.own) + sum(unread),
        retracted=[*quotes_of(found.state.get(b"retracted")).values()],
        valid_again=[*quotes_of(found.state.get(b"valid_again")).values()],
        marks=found.retracted.get(thread, frozenset()),
        chunks=chunks,
        observations=list(past.observations(found.observations)),
        generation=as_generation(found.reflections[0]) if found.reflections else None,
        others={name: some[-EXCERPT_MESSAGES:] for name, some in messages.items() if some and here.get(name)},
        other_counts=_other_counts(known.scope, thread, unsealed, chunks, here),
        unsealed=unsealed,
        paused=b"*paused" in found.tokens,
        working=held_of(found.working, "", thread),
        signing_key=found.tokens.get(b"*key", b"").decode("ascii", "ignore"),
        now=int(found.time[0]) * 1000 + int(found.time[1]) // 1000,
        composed=[notes for notes in composed.values() if notes],
        left_out={name: APART for name, notes in composed.items() if notes is None},
    ), known


def _held(scope: Scope, chunks: Sequence[Chunk], found: Answers) -> HeldMemory:
    ready = {chunk.id: found.details[chunk.id] for chunk in chunks if chunk.ready}
    version = found.record.get(b"epoch"), found.record.get(b"generation")
    return HeldMemory(scope, *version, found.observations, found.sealed, ready)


def _beside(found: Answers) -> int:
    reflected = _TIMES_REFLECTED * sum(map(len, found.reflections))
    hashes = weight_of_hash(found.record) + weight_of_hash(found.state) + FIELD * len(found.tokens)
    return hashes + reflected


def _raw(thread: str, chunks: Sequence[Chunk], found: Answers) -> dict[str, list[Pair]]:
    """What is raw, by thread: what was sealed stands first, as it was there before the rest."""
    raw: dict[str, list[Pair]] = {thread: []}
    for chunk in chunks:
        raw.setdefault(chunk.thread, []).extend(found.sealed.get(chunk.id, ()))
    for name, pairs in found.others.items():
        raw.setdefault(name, []).extend(pairs)
    raw[thread].extend(found.own)
    return raw


def _other_counts(
    scope: Scope,
    thread: str,
    unsealed: Mapping[str, tuple[int, int]],
    chunks: Sequence[Chunk],
    here: Mapping[str, bool],
) -> dict[str, int]:
    if scope.thread is not None:
        return {}
    counts = {name: messages for name, (_, messages) in unsealed.items() if name != thread and here[name]}
    for chunk in chunks:
        if chunk.thread != thread and here[chunk.thread]:
            counts[chunk.thread] = counts.get(chunk.thread, 0) + chunk.messages
    return counts


def observations(keys: Keys, scope: Scope) -> Batch[list[Stored]]:
    """A scope's observations, oldest first."""
    return _stored(keys.of(scope.resource).observations(scope))


def replaced(keys: Keys, scope: Scope, generation: int) -> Batch[list[Stored]]:
    """The observations that a generation replaced, oldest first; none once they have expired."""
    return _stored(keys.of(scope.resource).reflected(scope, generation))


def set_aside(keys: Keys, scope: Scope) -> Steps[list[tuple[int, Observation]]]:
    """What was set aside in groups, oldest first, each with the generation that did so. In two round trips.

    Time 0: notes are set aside. Time 1: that is undone. Time 2: a model condenses them. They bear their group's name still, in a
    history that expires: they are in none.
    """
    of = keys.of(scope.resource)
    said = yield from as_bytes("HGET", of.record(scope), "generation")

    def history(n: int) -> Batch[tuple[list[Stored], int]]:
        return batch(replaced(keys, scope, n), as_int("PTTL", of.reflected(scope, n)))

    found = yield from by_name(histories(int(said or 0)), history, atomic=False)
    kept = ((n, each.observation) for n, (some, left) in found.items() if lasts(left) for each in some)
    return [(n, own) for n, own in kept if own.group]


def _stored(key: str) -> Batch[list[Stored]]:
    return command(as_stored, "ZRANGE", key, 0, -1, "WITHSCORES")


def generations(keys: Keys, scope: Scope, newest: int = 0) -> Batch[list[Generation]]:
    """A scope's `newest` generations (0: all), oldest first; the last is in force."""
    read = as_pairs("ZRANGE", keys.of(scope.resource).reflections(scope), -newest, -1, "WITHSCORES")
    return read.then(lambda pairs: [as_generation(member) for member, _ in pairs])


def source_messages(keys: Keys, resource: str, observation: str, thread: str) -> Batch[list[Message]]:
    """The messages behind an observation, oldest first; none when they have expired."""
    read = as_pairs("ZRANGE", keys.of(resource).source(observation), 0, -1, "WITHSCORES")
    return read.then(lambda pairs: messages_of(pairs, thread, resource))


def source_thread(keys: Keys, resource: str, observation: str) -> Steps[str]:
    """The thread that an observation's messages are of; "" when nobody knows it any more."""
    of = keys.of(resource)
    names = [name.decode() for name in (yield from as_list("ZRANGE", of.threads, 0, -1))]
    for start in range(0, len(names), _ASKED_AT_ONCE):
        some = names[start : start + _ASKED_AT_ONCE]
        found = yield from each((as_float("ZSCORE", of.sources(name), observation) for name in some), atomic=False)
        if known := [name for name, score in zip(some, found, strict=True) if score is not None]:
            return known[0]
    return ""


def stored_scope(keys: Keys, resource: str) -> Batch[str | None]:
    """The scope word in force for a resource; None while nothing was ever sealed."""
    return as_bytes("GET", keys.of(resource).scope).then(lambda stored: stored.decode() if stored else None)


def threads(keys: Keys, resource: str, names: Sequence[str]) -> Batch[list[ThreadState]]:
    """Threads with what is unsealed of them, in the order asked for."""
    of = keys.of(resource)

    def states(found: tuple[Mapping[bytes, bytes], list[Pair], list[dict[bytes, bytes]]]) -> list[ThreadState]:
        times = {name.decode(): int(at) for name, at in found[1]}
        read = [as_thread(name, fields, found[0]) for name, fields in zip(names, found[2], strict=True)]
        return [_dated(state, times.get(state.id, 0), away=AWAY + state.id.encode() in found[0]) for state in read]

    return batch(
        as_hash("HGETALL", of.tokens),
        as_pairs("ZRANGE", of.threads, 0, -1, "WITHSCORES"),
        each(as_hash("HGETALL", of.thread(name)) for name in names),
    ).then(states)


def own_calls(keys: Keys, resource: str, names: Iterable[str]) -> Batch[dict[str, tuple[str, ...]]]:
    """By thread the ids of calls of own tools that stand in its chunks without their results, the newest last."""
    of = keys.of(resource)
    return by_name(names, lambda name: as_bytes("HGET", of.thread(name), "own_calls").then(_ids))


def _ids(said: bytes | None) -> tuple[str, ...]:
    return tuple(said.decode().split(" ")) if said else ()


def _dated(state: ThreadState, at: int, *, away: bool) -> ThreadState:
    return msgspec.structs.replace(state, at=at, archived_at=state.archived_at if away else 0)


def last_raw(keys: Keys, resource: str, names: Sequence[str]) -> Batch[dict[str, int]]:
    """Of when (Unix ms) the newest raw message of threads is, which no worker may have looked at yet; 0 = there is none.

    One that is dated ahead is of now.
    """
    of = keys.of(resource)
    newest = by_name(names, lambda name: as_pairs("ZRANGE", of.messages(name), -1, -1, "WITHSCORES"))
    said = batch(server_ms(), newest)
    return said.then(lambda found: {name: min(found[0], _ms(pairs)) for name, pairs in found[1].items()})


def _ms(newest: Sequence[Pair]) -> int:
    return (to_ms(newest[0][1]) or 0) if newest else 0

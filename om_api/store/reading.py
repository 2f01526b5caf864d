"""Reading a memory: one MULTI/EXEC whose key names come from the last look, done again only if it names a key unread."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

import msgspec

from om_api.errors import InvalidInputError
from om_api.store.steps import Batch, Steps, Verb
from om_api.store.writing import scored
from om_api.values import (
    Chunk,
    Generation,
    Message,
    Observation,
    Record,
    Scope,
    Snapshot,
    Stored,
    ThreadState,
    parse_member,
    to_ms,
)

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from om_api.store.keys import Keys, ResourceKeys

OTHERS = 10  # other threads whose newest messages are read for excerpts; the rest appear as a count
EXCERPT_MESSAGES = 8
_TRIES = 3


class Names(NamedTuple):
    """What a snapshot must name beforehand: the chunks (with their thread, if known) and other threads with raw messages."""

    scope: Scope
    chunks: dict[str, str]
    others: tuple[str, ...]


def scope_in_force(keys: Keys, resource: str, thread: str | None, configured: str) -> Steps[Scope]:
    """The scope that covers a thread: the stored one, or the configured one while nothing was ever sealed."""
    return as_scope(resource, thread, (yield from stored_scope(keys, resource)) or configured)


def as_scope(resource: str, thread: str | None, word: str) -> Scope:
    """The scope of a thread when memories cover `word` (resource or thread)."""
    return Scope(resource, thread) if word == "thread" and thread is not None else Scope(resource)


def snapshot(keys: Keys, resource: str, thread: str, known: Names) -> Steps[tuple[Snapshot, Names]]:
    """Everything a thread's context is made of, at one instant, and the names to begin with next time.

    One round trip while `known` is still true; one more whenever a chunk was sealed or a thread began meanwhile.
    """
    of = keys.of(resource)
    for _ in range(_TRIES):
        replies = yield Batch(_commands(of, thread, known))
        named = _named(resource, thread, known.scope, replies)
        if named.scope != known.scope:
            known = named
        elif named.chunks.keys() <= known.chunks.keys() and set(named.others) <= set(known.others):
            return _assemble(thread, known, named.others, replies)
        else:
            known = Names(known.scope, {**dict.fromkeys(named.chunks, ""), **known.chunks}, named.others)
    replies, known = yield from _settled(of, thread, known.scope)
    return _assemble(thread, known, known.others, replies)


_FIXED = 9


def _commands(of: ResourceKeys, thread: str, known: Names) -> list[tuple[Any, ...]]:
    scope = known.scope
    commands: list[tuple[Any, ...]] = [
        ("TIME",),
        ("GET", of.scope),
        ("HGETALL", of.tokens),
        ("HGETALL", of.record(scope)),
        ("ZRANGE", of.chunks(scope), 0, -1, "WITHSCORES"),
        ("ZRANGE", of.observations(scope), 0, -1, "WITHSCORES"),
        ("ZRANGE", of.reflections(scope), -1, -1),
        ("HGETALL", of.thread(thread)),
        ("ZRANGE", of.messages(thread), 0, -1, "WITHSCORES"),
    ]
    for chunk, owner in known.chunks.items():
        first = 0 if owner in {"", thread} else -EXCERPT_MESSAGES
        commands.append(("HGETALL", of.chunk(chunk)))
        commands.append(("ZRANGE", of.sealed(chunk), first, -1, "WITHSCORES"))
    commands += [("ZRANGE", of.messages(other), -EXCERPT_MESSAGES, -1, "WITHSCORES") for other in known.others]
    return [*commands, ("ZRANGE", of.threads, 0, 2 * OTHERS, "REV")]


def _settled(of: ResourceKeys, thread: str, scope: Scope) -> Steps[tuple[list[Any], Names]]:
    fixed = [of.scope, of.tokens, of.record(scope), of.chunks(scope), of.observations(scope), of.reflections(scope)]
    stems = [of.chunk(""), of.sealed(""), of.messages("")]
    others = OTHERS if scope.thread is None else 0
    names = [*fixed, of.thread(thread), of.messages(thread), of.threads, *stems]
    replies, chunks, threads = yield Verb("snapshot", names, [thread, EXCERPT_MESSAGES, others])
    return replies, Names(scope, {chunk.decode(): "" for chunk in chunks}, tuple(name.decode() for name in threads))


def _named(resource: str, thread: str, guess: Scope, replies: Sequence[Any]) -> Names:
    stored = replies[1].decode() if replies[1] else None
    scope = guess if stored is None else as_scope(resource, thread, stored)
    if scope != guess:
        return Names(scope, {}, ())
    chunks = {chunk.decode(): "" for chunk, _ in scored(replies[4])}
    if scope.thread is not None:
        return Names(scope, chunks, ())
    unsealed = [name[1:].decode() for name in fields(replies[2]) if name.startswith(b"#")]
    return Names(scope, chunks, newest_others(unsealed, [name.decode() for name in replies[-1]], thread))


def newest_others(unsealed: Sequence[str], newest: Sequence[str], thread: str) -> tuple[str, ...]:
    """Up to OTHERS threads but this one with raw messages, newest first.

    `newest` is the head of the workers' index; a thread missing from a short index is one they have not met yet: newest of all.
    """
    missing = -1 if len(newest) < 2 * OTHERS else len(newest)
    place = {name: rank for rank, name in enumerate(newest)}
    ranked = sorted((name for name in unsealed if name != thread), key=lambda name: (place.get(name, missing), name))
    return tuple(ranked[:OTHERS])


def _assemble(thread: str, known: Names, others_now: tuple[str, ...], replies: Sequence[Any]) -> tuple[Snapshot, Names]:
    resource = known.scope.resource
    time, _, tokens, record, _, observations, reflections, state, _ = replies[:_FIXED]
    counts = fields(tokens)
    unsealed = unsealed_threads(counts)
    chunks, raw = _raw(thread, known, replies)
    own = raw.pop(thread)
    return Snapshot(
        scope=known.scope,
        thread=as_thread(thread, fields(state), unsealed),
        record=as_record(fields(record)),
        messages=_in_order(own, thread, resource),
        chunks=chunks,
        observations=as_stored(observations),
        generation=as_generation(reflections[0]) if reflections else None,
        others={name: _in_order(some, name, resource)[-EXCERPT_MESSAGES:] for name, some in raw.items() if some},
        other_counts=_other_counts(known.scope, thread, unsealed, chunks),
        unsealed=unsealed,
        unsealed_tokens=int(counts.get(b"*", 0)),
        paused=b"*paused" in counts,
        now=int(time[0]) * 1000 + int(time[1]) // 1000,
    ), Names(known.scope, {chunk.id: chunk.thread for chunk in chunks}, others_now)


def _raw(thread: str, known: Names, replies: Sequence[Any]) -> tuple[list[Chunk], dict[str, dict[bytes, float]]]:
    """The chunks by seq, and by thread what is raw, sealed or not: member -> score, so that a copy counts once."""
    chunks: list[Chunk] = []
    raw: dict[str, dict[bytes, float]] = {thread: dict(scored(replies[_FIXED - 1]))}
    seqs = dict(scored(replies[4]))
    for position, chunk in enumerate(known.chunks):
        at = _FIXED + 2 * position
        if chunk.encode() in seqs:
            chunks.append(as_chunk(chunk, seqs[chunk.encode()], fields(replies[at])))
            raw.setdefault(chunks[-1].thread, {}).update(scored(replies[at + 1]))
    for position, other in enumerate(known.others):
        raw.setdefault(other, {}).update(scored(replies[_FIXED + 2 * len(known.chunks) + position]))
    return sorted(chunks, key=lambda chunk: chunk.seq), raw


def _in_order(members: Mapping[bytes, float], thread: str, resource: str) -> list[Message]:
    """Messages as a sorted set orders them: by score, then by bytes."""
    return _messages(sorted(members.items(), key=lambda pair: (pair[1], pair[0])), thread, resource)


def _other_counts(
    scope: Scope, thread: str, unsealed: Mapping[str, tuple[int, int]], chunks: Sequence[Chunk]
) -> dict[str, int]:
    if scope.thread is not None:
        return {}
    counts = {name: messages for name, (_, messages) in unsealed.items() if name != thread}
    for chunk in chunks:
        if chunk.thread != thread:
            counts[chunk.thread] = counts.get(chunk.thread, 0) + chunk.messages
    return counts


def fields(reply: Any) -> dict[bytes, bytes]:
    """A HGETALL reply as a dict, whichever of its forms the client hands out."""
    if isinstance(reply, dict):
        return reply
    return dict(zip(reply[::2], reply[1::2], strict=True))


def unsealed_threads(counts: Mapping[bytes, bytes]) -> dict[str, tuple[int, int]]:
    """From the tokens hash: thread -> (tokens, messages) of what is unsealed."""
    return {
        name[1:].decode(): (int(counts.get(name[1:], 0)), int(count))
        for name, count in counts.items()
        if name.startswith(b"#")
    }


def as_chunk(chunk: str, seq: float, value: Mapping[bytes, bytes]) -> Chunk:
    """A chunk from its hash."""
    return Chunk(
        id=chunk,
        thread=value.get(b"thread", b"").decode(),
        seq=seq,
        tokens=int(value.get(b"tokens", 0)),
        messages=int(value.get(b"messages", 0)),
        ready=value.get(b"state") == b"ready",
        attempts=int(value.get(b"attempts", 0)),
        observation=value.get(b"observation"),
    )


_INTEGERS = (
    *("schema", "generation", "chunk_tokens", "observation_tokens", "observation_count", "reflection_tokens"),
    *("observed_tokens", "observed_messages", "created_at", "observed_at", "reflected_at"),
)


def as_record(value: Mapping[bytes, bytes]) -> Record:
    """A scope's record from its hash."""
    text = {key.decode(): raw.decode() for key, raw in value.items()}
    return Record(
        **{name: int(text[name]) for name in _INTEGERS if name in text},
        epoch=text.get("epoch", ""),
        seq=float(text.get("seq", 0)),
        origin=text.get("origin", "initial"),
        limits=text.get("limits", ""),
        drain=float(text.get("drain", 0)),
    )


def as_thread(thread: str, value: Mapping[bytes, bytes], unsealed: Mapping[str, tuple[int, int]]) -> ThreadState:
    """A thread's state from its hash and what is unsealed of it."""
    tokens, messages = unsealed.get(thread, (0, 0))
    task, suggested, title = (
        value.get(name, b"").decode("utf-8", "replace") for name in (b"current_task", b"suggested_response", b"title")
    )
    return ThreadState(
        id=thread, tokens=tokens, messages=messages, current_task=task, suggested_response=suggested, title=title
    )


def as_stored(reply: Sequence[Any]) -> list[Stored]:
    """Observations with their seq, in order."""
    return [Stored(seq, as_observation(member), member) for member, seq in scored(reply)]


_observation = msgspec.json.Decoder(Observation)
_generation = msgspec.json.Decoder(Generation)


def as_observation(member: bytes) -> Observation:
    """An observation from its JSON; fields we do not know are left where they are."""
    return _observation.decode(member)


def as_generation(member: bytes) -> Generation:
    """A generation from its JSON."""
    return _generation.decode(member)


def _messages(members: Sequence[tuple[bytes, float]], thread: str, resource: str) -> list[Message]:
    found = []
    for member, score in members:
        try:
            found.append(parse_member(member, thread, resource, score))
        except InvalidInputError:
            continue  # not accepted: adoption will reject it and say why
    return found


class Look(NamedTuple):
    """What a worker decides by: a scope's record, counters and chunks at about one instant."""

    scope: Scope
    record: Record
    unsealed: dict[str, tuple[int, int]]
    unsealed_tokens: int
    chunks: list[Chunk]
    thread_times: dict[str, int]
    forced: dict[str, str]
    draft: bytes | None
    paused: bool
    now: int
    wake: int | None


def look(keys: Keys, scope: Scope) -> Steps[Look]:
    """Read what a worker decides by, in two round trips. The answer may be old by the time it is used: scripts check."""
    of = keys.of(scope.resource)
    replies = yield Batch(
        [
            ("TIME",),
            ("HGETALL", of.tokens),
            ("HGETALL", of.record(scope)),
            ("ZRANGE", of.chunks(scope), 0, -1, "WITHSCORES"),
            ("ZRANGE", of.threads, 0, -1, "WITHSCORES"),
            ("GET", of.draft(scope)),
        ]
    )
    counts, record = fields(replies[1]), fields(replies[2])
    names = scored(replies[3])
    hashes = (yield Batch([("HGETALL", of.chunk(name.decode())) for name, _ in names], atomic=False)) if names else []
    chunks = [as_chunk(name.decode(), seq, fields(value)) for (name, seq), value in zip(names, hashes, strict=True)]
    unsealed = unsealed_threads(counts)
    if scope.thread is not None:
        unsealed = {name: value for name, value in unsealed.items() if name == scope.thread}
    times = {name.decode(): int(at) for name, at in scored(replies[4])}
    wake = counts.get(wake_field(scope).encode())
    return Look(
        scope=scope,
        record=as_record(record),
        unsealed=unsealed,
        unsealed_tokens=sum(tokens for tokens, _ in unsealed.values()),
        chunks=chunks,
        thread_times=times,
        forced={k.decode(): v.decode() for k, v in record.items() if k.startswith(b"force")},
        draft=replies[5],
        paused=b"*paused" in counts,
        now=int(replies[0][0]) * 1000 + int(replies[0][1]) // 1000,
        wake=int(wake) if wake else None,
    )


def wake_field(scope: Scope) -> str:
    """Where the tokens hash says from how many unsealed tokens on a push is due."""
    return "*wake" if scope.thread is None else f"*wake:{scope.thread}"


def raw_messages(keys: Keys, resource: str, threads: Sequence[str]) -> Steps[dict[str, list[tuple[bytes, Message]]]]:
    """The unsealed members of threads with what they say, oldest first; malformed ones are left to adoption."""
    of = keys.of(resource)
    if not threads:
        return {}
    replies = yield Batch([("ZRANGE", of.messages(thread), 0, -1, "WITHSCORES") for thread in threads], atomic=False)
    return {
        thread: [pair for pair in (_pair(member, score, thread, resource) for member, score in scored(reply)) if pair]
        for thread, reply in zip(threads, replies, strict=True)
    }


def _pair(member: bytes, score: float, thread: str, resource: str) -> tuple[bytes, Message] | None:
    try:
        return member, parse_member(member, thread, resource, score)
    except InvalidInputError:
        return None


def sealed_messages(keys: Keys, resource: str, chunk: Chunk) -> Steps[list[Message]]:
    """The messages a chunk covers, oldest first."""
    (reply,) = yield Batch([("ZRANGE", keys.of(resource).sealed(chunk.id), 0, -1, "WITHSCORES")])
    return _messages(scored(reply), chunk.thread, resource)


def observations(keys: Keys, scope: Scope) -> Steps[list[Stored]]:
    """A scope's observations, oldest first."""
    (reply,) = yield Batch([("ZRANGE", keys.of(scope.resource).observations(scope), 0, -1, "WITHSCORES")])
    return as_stored(reply)


def generations(keys: Keys, scope: Scope) -> Steps[list[Generation]]:
    """A scope's generations, oldest first; the last is in force."""
    (reply,) = yield Batch([("ZRANGE", keys.of(scope.resource).reflections(scope), 0, -1)])
    return [as_generation(member) for member in reply]


def source_messages(keys: Keys, resource: str, observation: str, thread: str) -> Steps[list[Message]]:
    """The messages behind an observation, oldest first; none when they have expired."""
    (reply,) = yield Batch([("ZRANGE", keys.of(resource).source(observation), 0, -1, "WITHSCORES")])
    return _messages(scored(reply), thread, resource)


class Head(NamedTuple):
    """A thread's raw set: its members, how many of them are counted, the Unix ms of the last (0 = none)."""

    members: int
    counted: int
    last: int


def heads(keys: Keys, resource: str, names: Sequence[str]) -> Steps[dict[str, Head]]:
    """What tells whether threads hold members that nobody counted, and when they were last heard of."""
    if not names:
        return {}
    of = keys.of(resource)
    commands: list[tuple[Any, ...]] = []
    for name in names:
        commands.append(("ZCARD", of.messages(name)))
        commands.append(("HGET", of.tokens, "#" + name))
        commands.append(("ZRANGE", of.messages(name), -1, -1, "WITHSCORES"))
    replies = yield Batch(commands)
    last = [to_ms(found[0][1]) or 0 if (found := scored(reply)) else 0 for reply in replies[2::3]]
    triples = zip(replies[::3], replies[1::3], last, strict=True)
    return {name: Head(int(card), int(count or 0), at) for name, (card, count, at) in zip(names, triples, strict=True)}


def heard(keys: Keys, resource: str, last: Mapping[str, int]) -> Steps[None]:
    """Note when threads were last heard of (Unix ms); never earlier than noted before."""
    pairs = [part for name, at in last.items() for part in (at, name)]
    yield Batch([("ZADD", keys.of(resource).threads, "GT", *pairs)], writes=True)


def stored_scope(keys: Keys, resource: str) -> Steps[str | None]:
    """The scope word in force for a resource; None while nothing was ever sealed."""
    (stored,) = yield Batch([("GET", keys.of(resource).scope)])
    return stored.decode() if stored else None


def locked(keys: Keys, resource: str, names: Sequence[str]) -> Steps[list[bool]]:
    """Which of a resource's locks are held."""
    of = keys.of(resource)
    return [bool(held) for held in (yield Batch([("EXISTS", of.lock(name)) for name in names]))] if names else []


def replaced(keys: Keys, scope: Scope, generation: int) -> Steps[list[Stored]]:
    """The observations that a generation replaced, oldest first; none once they have expired."""
    (reply,) = yield Batch([("ZRANGE", keys.of(scope.resource).reflected(scope, generation), 0, -1, "WITHSCORES")])
    return as_stored(reply)


def threads(keys: Keys, resource: str, names: Sequence[str]) -> Steps[list[ThreadState]]:
    """Threads with what is unsealed of them, in the order asked for."""
    of = keys.of(resource)
    replies = yield Batch(
        [
            ("HGETALL", of.tokens),
            ("ZRANGE", of.threads, 0, -1, "WITHSCORES"),
            *(("HGETALL", of.thread(t)) for t in names),
        ]
    )
    unsealed = unsealed_threads(fields(replies[0]))
    times = {name.decode(): int(at) for name, at in scored(replies[1])}
    states = [as_thread(name, fields(reply), unsealed) for name, reply in zip(names, replies[2:], strict=True)]
    return [msgspec.structs.replace(state, at=times.get(state.id, 0)) for state in states]


class SideView(NamedTuple):
    """What stats say beyond the look: flags derived from leases, the due index, the quarantine."""

    scope: str
    observing: bool
    reflecting: bool
    due: bool
    rejected: int


def side_view(keys: Keys, resource: str, looks: Sequence[Look]) -> Steps[SideView]:
    """Read the leases and indexes of a resource's scopes: a chunk is observed, a scope reflected, while its lock is held."""
    of, scopes = keys.of(resource), [look.scope for look in looks]
    chunks = [of.lock(f"chunk:{chunk.id}") for look in looks for chunk in look.chunks if not chunk.ready]
    reflects = [of.lock(f"reflect:{scope.thread}" if scope.thread else "reflect") for scope in scopes]
    locks = (("EXISTS", name) for name in (*chunks, *reflects))
    replies = yield Batch([("GET", of.scope), ("LLEN", of.rejected), *locks])
    indexes = yield Batch([("ZSCORE", keys.due_observe, str(scope)) for scope in scopes], atomic=False)
    return SideView(
        scope=replies[0].decode() if replies[0] else "",
        observing=any(replies[2 : 2 + len(chunks)]),
        reflecting=any(replies[2 + len(chunks) :]),
        due=any(score is not None for score in indexes),
        rejected=int(replies[1]),
    )

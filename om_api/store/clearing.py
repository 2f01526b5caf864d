"""Ending a memory: a whole resource, one thread of it, or one that has been idle for too long."""

from __future__ import annotations

import re
from contextlib import suppress
from typing import TYPE_CHECKING, Any, NamedTuple

import msgspec

from om_api.errors import StoreError
from om_api.store import doubt, due
from om_api.store.decoding import as_generation, as_record, as_stored, fields, scored, unsealed_threads
from om_api.store.keys import WINDOW_MS, histories
from om_api.store.quarantine import PLACEHOLDER, as_rejected
from om_api.store.reading import as_scope, stored_scope
from om_api.store.steps import Batch, Steps, Verb, if_permitted
from om_api.values import Outcome, Record, Scope, new_id

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterable, Sequence

    from om_api.store.keys import Keys, ResourceKeys
    from om_api.values import Stored

_TRIES = 8
_FOLDED = re.compile(r"<thread id=\"([^\"]+)\">\n?.*?</thread>\n?", re.DOTALL)


class _Part(NamedTuple):
    """A chunk: whose messages it holds, their tokens, how many they are."""

    chunk: str
    thread: str
    tokens: int
    messages: int


class _Memory(NamedTuple):
    """One scope's part of a resource, as it was read for clearing."""

    scope: Scope
    version: tuple[str, str, str]
    record: Record
    chunks: list[_Part]
    observations: list[Stored]
    generations: list[tuple[int, bytes]]
    histories: dict[int, list[Stored]]


class Cleared(NamedTuple):
    """What clearing did: how many messages were in no observation yet, and how many observations there were.

    `merged` names the observations whose content a reflection merged beyond recognition.
    """

    outcome: Outcome
    messages: int
    observations: int
    merged: tuple[str, ...] = ()


def threads_of(keys: Keys, resource: str) -> Steps[list[str]]:
    """Every thread a resource is known to have: unsealed, met by the workers, or waiting for adoption.

    The last are left out for an ACL user who may not read the hints, which name everybody.
    """
    of = keys.of(resource)
    tokens, met = yield Batch([("HGETALL", of.tokens), ("ZRANGE", of.threads, 0, -1)])
    waiting = yield from if_permitted(_hinted(keys, resource), set())
    return sorted({*unsealed_threads(fields(tokens)), *(name.decode() for name in met), *waiting})


def _hinted(keys: Keys, resource: str) -> Steps[set[str]]:
    names, cursor, pattern = set[str](), 0, keys.of(resource).messages("*")
    while True:
        ((cursor, found),) = yield Batch([("ZSCAN", keys.adopt, cursor, "MATCH", pattern, "COUNT", 1000)])
        for key, _ in _scan_pairs(found):
            parsed = keys.parse_messages(key.decode())
            if parsed and parsed.resource == resource:
                names.add(parsed.thread)
        if not int(cursor):
            return names


def _scan_pairs(found: Any) -> list[tuple[bytes, float]]:
    return scored(list(found))


def _read(keys: Keys, scope: Scope) -> Steps[_Memory]:
    of = keys.of(scope.resource)
    record, chunks, observations, reflections = yield Batch(
        [
            ("HGETALL", of.record(scope)),
            ("ZRANGE", of.chunks(scope), 0, -1),
            ("ZRANGE", of.observations(scope), 0, -1, "WITHSCORES"),
            ("ZRANGE", of.reflections(scope), 0, -1, "WITHSCORES"),
        ]
    )
    raw = fields(record)
    owners = (
        (yield Batch([("HMGET", of.chunk(c.decode()), "thread", "tokens", "messages") for c in chunks], atomic=False))
        if chunks
        else []
    )
    generations = [(int(n), member) for member, n in scored(reflections)]
    reached = histories(int(raw.get(b"generation", 0)))
    replaced = (
        (yield Batch([("ZRANGE", of.reflected(scope, n), 0, -1, "WITHSCORES") for n in reached], atomic=False))
        if reached
        else []
    )
    return _Memory(
        scope,
        (raw.get(b"epoch", b"").decode(), raw.get(b"seq", b"0").decode(), raw.get(b"generation", b"0").decode()),
        as_record(raw),
        [
            _Part(c.decode(), (thread or b"").decode(), int(tokens or 0), int(messages or 0))
            for c, (thread, tokens, messages) in zip(chunks, owners, strict=True)
        ],
        as_stored(observations),
        generations,
        {n: as_stored(reply) for n, reply in zip(reached, replaced, strict=True)},
    )


def clear(keys: Keys, resource: str, now_ms: int, *, retention: bool = False) -> Steps[Cleared]:
    """Unlink a resource's whole memory in one step; with `retention`, only if nothing came since it was read."""
    of = keys.of(resource)
    for _ in range(_TRIES):
        threads = yield from threads_of(keys, resource)
        tokens = yield Batch([("HGETALL", of.tokens)])
        unsealed = unsealed_threads(fields(tokens[0]))
        # of both scopes: a request that waits, or a client that believes in the other one, makes a record too
        memories = []
        for scope in [Scope(resource), *(Scope(resource, thread) for thread in sorted({*threads, *unsealed}))]:
            memory = yield from _read(keys, scope)
            memories.append(memory)
        yield from _forget_marks(keys, resource, threads)
        known = sorted({*threads, *unsealed})
        names = [
            of.tokens,
            of.threads,
            *(of.record(memory.scope) for memory in memories),
            *(of.messages(thread) for thread in known),
        ]
        names += _names(of, known, memories, now_ms)
        args: list[Any] = [int(retention), len(memories), *(word for memory in memories for word in memory.version)]
        args += [word for thread in known for word in (thread, unsealed.get(thread, (0, 0))[1])]
        reply = yield Verb("clear", names, args)
        if reply == b"cleared":
            found = sum(len(memory.observations) for memory in memories)
            sealed = sum(part.messages for memory in memories for part in memory.chunks)
            return Cleared(Outcome.CLEARED, sealed + sum(n for _, n in unsealed.values()), found)
        # What stays needs its marks again: those that were removed may have been of the push that came between.
        yield from due.mark(keys.due_observe, [Scope(resource)])
        if reply == b"superseded":
            return Cleared(Outcome.SUPERSEDED, 0, 0)
    raise StoreError(f"{resource} changes faster than it can be cleared: stop its writers, then repeat.", stored=False)


def _names(of: ResourceKeys, threads: Sequence[str], memories: Sequence[_Memory], now_ms: int) -> list[str]:
    names = [of.scope, of.rejected, of.lock(doubt.LOCK)]
    for thread in threads:
        names += _thread_names(of, thread, now_ms)
    for memory in memories:
        names += [
            of.chunks(memory.scope),
            of.observations(memory.scope),
            of.reflections(memory.scope),
            of.draft(memory.scope),
        ]
        for part in memory.chunks:
            names += [of.chunk(part.chunk), of.sealed(part.chunk), *_locks(of, [part.chunk])]
        names += [of.source(stored.observation.id) for stored in memory.observations]
        names += _notes(of, memory.observations)
        for n, history in memory.histories.items():
            names += [of.reflected(memory.scope, n), *_notes(of, history)]
            names += [of.source(stored.observation.id) for stored in history]
        for _, member in memory.generations:
            ids = as_generation(member).observation_ids
            names += [*(of.source(name) for name in ids), *_locks(of, [name for name in ids if "." in name])]
    return names


def _notes(of: ResourceKeys, stored: Sequence[Stored]) -> list[str]:
    """What may stand of the work on those chunks that could not be observed at once: their halves, and placeholders."""
    found = [each.observation for each in stored]
    return _locks(of, [each.id for each in found if "." in each.id or each.model == PLACEHOLDER])


def _locks(of: ResourceKeys, chunks: Iterable[str]) -> list[str]:
    return [lock for chunk in chunks for lock in doubt.locks(of, chunk)]


def _thread_names(of: ResourceKeys, thread: str, now_ms: int) -> list[str]:
    window = now_ms // WINDOW_MS
    seen = [of.seen(thread, n) for n in range(window - 3, window + 2)]
    return [of.messages(thread), of.thread(thread), of.sources(thread), *seen]


def _forget_marks(keys: Keys, resource: str, threads: Sequence[str]) -> Steps[None]:
    # Before the memory, never after: a push that comes after the clear marks its scope, and that mark must stay.
    scopes = [resource, *(str(Scope(resource, thread)) for thread in threads)]
    of = keys.of(resource)
    commands: list[tuple[Any, ...]] = [("ZREM", index, *scopes) for index in (keys.due_observe, keys.due_reflect)]
    commands.append(("ZREM", keys.resources, resource))
    commands.append(("ZREM", keys.adopt, *(of.messages(thread) for thread in threads or ["-"])))
    yield Batch(commands, atomic=False, writes=True)


def clear_thread(keys: Keys, scope: Scope, thread: str, now_ms: int, count: Callable[[str], int]) -> Steps[Cleared]:
    """Remove one thread from a memory: messages, chunks, observations, history, quarantine, its sections of generations."""
    of = keys.of(scope.resource)
    for _ in range(_TRIES):
        memory = yield from _read(keys, scope)
        counts, quarantine = yield Batch([("HGET", of.tokens, "#" + thread), ("LRANGE", of.rejected, 0, -1)])
        entries = [entry for entry in quarantine if as_rejected(entry).thread_id == thread]
        plan = _plan_thread(of, memory, thread, now_ms, count, entries)
        epoch, *version = memory.version
        word = "resource" if scope.thread is None else "thread"
        reply = yield Verb("clear_thread", plan.names, [word, epoch, new_id(), *version, thread, *plan.args])
        if reply == b"cleared":
            with suppress(StoreError):  # it is cleared; whoever takes the hint up finds nothing
                yield Batch([("ZREM", keys.adopt, of.messages(thread))], writes=True)
            return Cleared(Outcome.CLEARED, int(counts or 0) + plan.sealed, plan.observations, plan.merged)
        scope = as_scope(scope.resource, thread, (yield from stored_scope(keys, scope.resource)) or word)
    raise StoreError(f"{scope} changes faster than it can be cleared: repeat.", stored=False)


class _ThreadPlan(NamedTuple):
    names: list[str]
    args: list[Any]
    sealed: int
    observations: int
    merged: tuple[str, ...]


def _plan_thread(
    of: ResourceKeys,
    memory: _Memory,
    thread: str,
    now_ms: int,
    count: Callable[[str], int],
    entries: Sequence[bytes],
) -> _ThreadPlan:
    scope = memory.scope
    chunks = [part for part in memory.chunks if part.thread == thread]
    own = [stored for stored in memory.observations if stored.observation.thread_id == thread]
    past = [
        stored for history in memory.histories.values() for stored in history if stored.observation.thread_id == thread
    ]
    histories = [of.reflected(scope, n) for n in memory.histories]
    names = [of.tokens, of.record(scope), of.messages(thread), of.chunks(scope), of.observations(scope)]
    names += [of.reflections(scope), of.threads, of.rejected, of.scope, *histories]
    names += [of.draft(scope), *_thread_names(of, thread, now_ms)]
    names += [name for part in chunks for name in (of.chunk(part.chunk), of.sealed(part.chunk))]
    names += _locks(of, (part.chunk for part in chunks))
    names += [*(of.source(stored.observation.id) for stored in (*own, *past)), *_notes(of, (*own, *past))]
    if scope.thread is not None:  # nothing of the memory is another thread's
        names += [of.record(scope), of.reflections(scope), *histories]
    args: list[Any] = [len(histories), len(chunks), len(own) + len(past), len(entries)]
    args += [word for part in chunks for word in (part.chunk, part.tokens)]
    args += [word for stored in (*own, *past) for word in (format(stored.seq, ".17g"), stored.observation.tokens)]
    args += entries
    gone = {stored.observation.id for stored in (*own, *past)}
    for n, member in memory.generations:
        args += _rewritten(n, member, thread, gone, count)
    # what stands outside of any section is of several threads: there a reflection has merged what was this one's
    common = _FOLDED.sub("", as_generation(memory.generations[-1][1]).text).strip() if memory.generations else ""
    sealed, merged = sum(part.messages for part in chunks), tuple(stored.observation.id for stored in past)
    return _ThreadPlan(names, args, sealed, len(own), merged if common else ())


def _rewritten(n: int, member: bytes, thread: str, gone: Collection[str], count: Callable[[str], int]) -> list[Any]:
    """A generation without a thread's sections, and without naming what is gone among what could come back."""
    was = as_generation(member)
    rest, dropped = without_thread(was.text, thread), [name for name in was.observation_ids if name in gone]
    if rest == was.text and not dropped:
        return []
    tokens = was.tokens if rest == was.text else count(rest)
    kept = [name for name in was.observation_ids if name not in gone]
    said = {"text": rest, "tokens": tokens, "observation_ids": kept, "dropped_ids": [*was.dropped_ids, *dropped]}
    return [n, msgspec.json.encode({**msgspec.json.decode(member), **said}), tokens]


def without_thread(text: str, thread: str) -> str:
    """A generation's text without one thread's sections."""
    return _FOLDED.sub(lambda found: "" if found[1] == thread else found[0], text)

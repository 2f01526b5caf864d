"""Every change of a memory: one script each, naming what was read; a late writer gets the word `superseded`."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

import msgspec

from om_api.store.decoding import fields
from om_api.store.quarantine import as_rejected
from om_api.store.steps import Batch, Steps, Verb
from om_api.values import Chunk, Generation, Observation, Outcome, Scope, new_id

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from om_api.store.keys import Keys
    from om_api.values import Stored


_FORGOTTEN_S = 3_600


def seal(
    keys: Keys, scope: Scope, epoch: str, thread: str, members: Sequence[bytes], tokens: int, chunk: str | None = None
) -> Steps[Outcome]:
    """Take raw members of a thread into a new chunk, unless any of them is gone or not counted, or the memory is another.

    `epoch` is the record's as read ('' = none). `chunk` is for repeating a call whose reply was lost.
    """
    of, chunk = keys.of(scope.resource), chunk or new_id()
    names = [of.scope, of.record(scope), of.tokens, of.messages(thread), of.chunks(scope)]
    names += [of.chunk(chunk), of.sealed(chunk), of.source(chunk), of.threads]
    word = "resource" if scope.thread is None else "thread"
    reply = yield Verb("seal", names, [word, epoch, new_id(), chunk, thread, tokens, *members])
    return Outcome(reply[0].decode())


def begin(keys: Keys, resource: str, chunk: str, attempts: int = 1) -> Steps[int | None]:
    """Count an attempt on a chunk (-1 gives one back); the attempts so far, or None when it is gone or ready."""
    reply = yield Verb("begin", [keys.of(resource).chunk(chunk)], [attempts])
    return None if reply == b"superseded" else int(reply)


def buffer(keys: Keys, resource: str, observation: Observation, by: str, rejected: bytes = b"") -> Steps[Outcome]:
    """Store a chunk's observation (its id is the chunk's), unless the chunk is gone or already ready.

    Time 0: two workers observe one chunk. Time 5: the first stores its result. Time 6: the second changes nothing.
    """
    of = keys.of(resource)
    member = msgspec.json.encode(observation)
    names = [of.chunk(observation.id), of.rejected]
    reply = yield Verb("buffer", names, [by, member, observation.tokens, rejected])
    return Outcome(reply.decode())


def split(keys: Keys, scope: Scope, chunk: Chunk, n: int, first_tokens: int, attempts: int) -> Steps[Outcome]:
    """Replace a chunk that cannot be observed by two: its first n messages, and the rest, each with `attempts` counted."""
    of, whole = keys.of(scope.resource), root(chunk.id)
    first, second = f"{whole}.{new_id()}", f"{whole}.{new_id()}"
    names = [of.record(scope), of.chunks(scope)]
    names += [name for part in (chunk.id, first, second) for name in (of.chunk(part), of.sealed(part))]
    reply = yield Verb("split", names, [chunk.id, first, second, n, first_tokens, attempts])
    return Outcome(reply.decode())


def root(chunk: str) -> str:
    """The id of the chunk as it was sealed, of which a chunk is a half, or a half of a half."""
    return chunk.partition(".")[0]


def activate(
    keys: Keys,
    scope: Scope,
    epoch: str,
    chunks: Sequence[Chunk],
    chosen: Sequence[str],
    ttl_s: int,
    activation: str | None = None,
) -> Steps[Outcome]:
    """Turn ready chunks into observations. `chunks` are all that were seen, `chosen` the ids to activate.

    Refused when the memory is another, a chosen chunk is no longer ready, or one was left that must come before it.
    """
    of, activation = keys.of(scope.resource), activation or new_id()
    picked = [chunk for chunk in chunks if chunk.id in chosen]
    names = [of.record(scope), of.chunks(scope), of.observations(scope)]
    args: list[Any] = [epoch, activation, len(picked), ttl_s]
    for chunk in picked + [chunk for chunk in chunks if chunk.id not in chosen]:
        names += [
            of.chunk(chunk.id),
            of.sealed(chunk.id),
            of.source(chunk.id),
            of.thread(chunk.thread),
            of.sources(chunk.thread),
        ]
        said = msgspec.json.decode(chunk.observation) if chunk.observation and chunk.id in chosen else {}
        member = msgspec.json.encode({**said, "activation": activation}) if said else b""
        task, suggested = said.get("task_state", ""), said.get("suggested_response", "")
        args += [chunk.id, member, said.get("tokens", 0), task, suggested]
    reply = yield Verb("activate", names, args)
    return Outcome(reply.decode())


def reflect(
    keys: Keys, scope: Scope, epoch: str, generation: Generation, replaced: Sequence[Stored], keep: int, ttl_s: int
) -> Steps[Outcome]:
    """Make a generation the scope's next, unless another came first.

    Time 0: we read generation 4 and start thinking. Time 9: an activation appends "new fact". Time 12: we commit. Only
    `replaced`, what we read, moves to the history; "new fact" stays. Had another reflector committed generation 5
    meanwhile, nothing would change and we would return "superseded".
    """
    of = keys.of(scope.resource)
    names = [of.record(scope), of.observations(scope), of.reflections(scope)]
    names += [of.reflected(scope, generation.n), of.draft(scope)]
    moved = sum(stored.observation.tokens for stored in replaced)
    args = [epoch, generation.n - 1, new_id(), msgspec.json.encode(generation), generation.tokens, moved, keep, ttl_s]
    named = [word for stored in replaced for word in (_seq(stored.seq), stored.member)]
    reply = yield Verb("reflect", names, [*args, *named])
    return Outcome(reply.decode())


def draft(keys: Keys, scope: Scope, epoch: str, generation: int, text: bytes, ttl_s: int) -> Steps[Outcome]:
    """Keep a reflection thought ahead of need, unless the generation it builds on is no longer in force."""
    of = keys.of(scope.resource)
    reply = yield Verb("draft", [of.record(scope), of.draft(scope)], [epoch, generation, ttl_s, text])
    return Outcome(reply.decode())


class Note(NamedTuple):
    """What a look decided besides its move; see lua/note.lua."""

    limits: str
    wake_field: str
    wake: int
    drain: float | None = None
    forced: Sequence[tuple[str, str, str]] = ()


def note(keys: Keys, scope: Scope, epoch: str, what: Note) -> Steps[Outcome]:
    """Write down what a look decided, unless the memory is another than the one that was looked at."""
    of = keys.of(scope.resource)
    drain = "" if what.drain is None else _seq(what.drain)
    args = [epoch, what.limits, drain, what.wake_field, what.wake, *(word for triple in what.forced for word in triple)]
    reply = yield Verb("note", [of.record(scope), of.tokens], args)
    return Outcome.REST if reply[0] == b"noted" else Outcome.SUPERSEDED


def stir(keys: Keys, scope: Scope, fingerprint: str) -> Steps[int]:
    """Note that a memory looks like `fingerprint` now; for how many ms of the server's it has."""
    of = keys.of(scope.resource)
    reply = yield Verb("stir", [of.record(scope), of.tokens], [fingerprint])
    return int(reply)


def force(keys: Keys, scope: Scope, field: str) -> Steps[str]:
    """Ask the workers for something; returns the request's id, which stands in the record until it is answered."""
    request = new_id()
    yield Batch([("HSET", keys.of(scope.resource).record(scope), field, request)], writes=True)
    return request


def failed(keys: Keys, scope: Scope, what: str) -> Steps[None]:
    """Count a failure of thinking about exactly this; forgotten after an hour."""
    name = keys.of(scope.resource).lock(f"failed:{scope.thread or ''}:{what}")
    yield Batch([("INCR", name), ("EXPIRE", name, _FORGOTTEN_S)], writes=True)


def failures(keys: Keys, scope: Scope, what: str) -> Steps[int]:
    """How often thinking about exactly this failed within the hour."""
    (count,) = yield Batch([("GET", keys.of(scope.resource).lock(f"failed:{scope.thread or ''}:{what}"))])
    return int(count or 0)


def requests(keys: Keys, scope: Scope) -> Steps[dict[str, bytes]]:
    """The forced observations that a scope's record holds: field -> request."""
    (reply,) = yield Batch([("HGETALL", keys.of(scope.resource).record(scope))])
    found = {name.decode(): value for name, value in fields(reply).items()}
    return {name: value for name, value in found.items() if name == "force" or name.startswith("force:")}


def hand_on(keys: Keys, asked: Scope, waiting: Mapping[str, bytes], meant: Sequence[Scope]) -> Steps[None]:
    """Hand requests that stood in a record of one scope to the records that are meant now."""
    of = keys.of(asked.resource)
    for field, request in waiting.items():
        thread = field.partition(":")[2] or asked.thread
        for scope in meant:
            if scope.thread is None or thread in {None, scope.thread}:
                name = f"force:{thread}" if scope.thread is None and thread else "force"
                yield Batch([("HSET", of.record(scope), name, request.partition(b"@")[0])], writes=True)
        yield Batch([("HDEL", of.record(asked), field)], writes=True)


def forget(keys: Keys, scope: Scope, epoch: str, stored: Stored) -> Steps[Outcome]:
    """Remove one observation, the messages behind it and its quarantine entry, because their owner says so."""
    of, name = keys.of(scope.resource), stored.observation.id
    (quarantined,) = yield Batch([("LRANGE", of.rejected, 0, -1)])
    entries = [entry for entry in quarantined if as_rejected(entry).observation == name]
    names = [of.record(scope), of.observations(scope), of.source(name), of.draft(scope), of.rejected]
    reply = yield Verb("forget", names, [epoch, _seq(stored.seq), stored.observation.tokens, *entries])
    return Outcome(reply.decode())


def pause(keys: Keys, resource: str, *, on: bool) -> Steps[None]:
    """Stop (or let go on) everything that calls a model for a resource; messages are kept, contexts served."""
    tokens = keys.of(resource).tokens
    yield Batch([("HSET", tokens, "*paused", 1) if on else ("HDEL", tokens, "*paused")], writes=True)


def _seq(value: float) -> str:
    return format(value, ".17g")

"""A worker's look at a scope: what it decides by. The answer may be old by the time it is used: scripts check."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

from om_api.errors import InvalidInputError
from om_api.store.decoding import as_chunk, as_record, fields, messages_of, scored, unsealed_threads
from om_api.store.due import URGENT_MS
from om_api.store.quarantine import DROPPED
from om_api.store.steps import Batch, Steps, if_permitted, together
from om_api.values import Chunk, Message, Record, Scope, parse_member, to_ms

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from om_api.store.decoding import Pair
    from om_api.store.keys import Keys, ResourceKeys

_AT_ONCE = 100  # scopes in one batch


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
    signing_key: str
    now: int
    wake: int | None


def look(keys: Keys, scope: Scope) -> Steps[Look]:
    """Read what a worker decides by, in two round trips. The answer may be old by the time it is used: scripts check."""
    (found,) = yield from looks(keys, [scope])
    return found


def looks(keys: Keys, scopes: Sequence[Scope]) -> Steps[list[Look]]:
    """The same of several scopes of one resource, in two round trips for every 100 of them."""
    found: list[Look] = []
    for start in range(0, len(scopes), _AT_ONCE):
        found += yield from _some(keys, scopes[start : start + _AT_ONCE])
    return found


def meet(keys: Keys, scope: Scope) -> Steps[tuple[Look, dict[str, Head]]]:
    """A look, and the heads of the threads it sees (in thread scope its own, always), in two round trips together."""
    of, (around, (own,)) = keys.of(scope.resource), (yield from _around(keys, [scope]))
    threads = [scope.thread] if scope.thread is not None else sorted(unsealed_threads(around.counts))
    (chunks,), found = yield from together(_chunks(of, [own.chunks]), heads(keys, scope.resource, threads))
    return _look(scope, around, own, chunks), found


def _some(keys: Keys, scopes: Sequence[Scope]) -> Steps[list[Look]]:
    around, each = yield from _around(keys, scopes)
    chunks = yield from _chunks(keys.of(scopes[0].resource), [own.chunks for own in each])
    return [_look(scope, around, own, some) for scope, own, some in zip(scopes, each, chunks, strict=True)]


def _around(keys: Keys, scopes: Sequence[Scope]) -> Steps[tuple[_Around, list[_Own]]]:
    of = keys.of(scopes[0].resource)
    asked: list[tuple[Any, ...]] = [("TIME",), ("HGETALL", of.tokens), ("ZRANGE", of.threads, 0, -1, "WITHSCORES")]
    for scope in scopes:
        asked.append(("HGETALL", of.record(scope)))
        asked.append(("ZRANGE", of.chunks(scope), 0, -1, "WITHSCORES"))
        asked.append(("GET", of.draft(scope)))
    time, tokens, threads, *rest = yield Batch(asked)
    around = _Around(int(time[0]) * 1000 + int(time[1]) // 1000, fields(tokens), scored(threads))
    each = zip(rest[::3], rest[1::3], rest[2::3], strict=True)
    return around, [_Own(fields(record), scored(chunks), draft) for record, chunks, draft in each]


def _chunks(of: ResourceKeys, names: Sequence[Sequence[Pair]]) -> Steps[list[list[Chunk]]]:
    asked = [("HGETALL", of.chunk(name.decode())) for some in names for name, _ in some]
    hashes = iter((yield Batch(asked, atomic=False)) if asked else ())
    return [[as_chunk(name.decode(), seq, fields(next(hashes))) for name, seq in some] for some in names]


class _Around(NamedTuple):
    """What looks at one resource's scopes have in common."""

    now: int
    counts: Mapping[bytes, bytes]
    threads: Sequence[Pair]


class _Own(NamedTuple):
    """What is of one scope alone; of its chunks the names."""

    record: Mapping[bytes, bytes]
    chunks: Sequence[Pair]
    draft: bytes | None


def _look(scope: Scope, around: _Around, own: _Own, chunks: list[Chunk]) -> Look:
    unsealed = unsealed_threads(around.counts)
    if scope.thread is not None:
        unsealed = {name: value for name, value in unsealed.items() if name == scope.thread}
    wake = around.counts.get(wake_field(scope).encode())
    return Look(
        scope=scope,
        record=as_record(own.record),
        unsealed=unsealed,
        unsealed_tokens=sum(tokens for tokens, _ in unsealed.values()),
        chunks=chunks,
        thread_times={name.decode(): int(at) for name, at in around.threads},
        forced={k.decode(): v.decode() for k, v in own.record.items() if k.startswith(b"force")},
        draft=own.draft,
        paused=b"*paused" in around.counts,
        signing_key=around.counts.get(b"*key", b"").decode("ascii", "ignore"),
        now=around.now,
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
    return messages_of(scored(reply), chunk.thread, resource)


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


def locked(keys: Keys, resource: str, names: Sequence[str]) -> Steps[list[int]]:
    """For how many ms more each of a resource's locks is held, unless it is renewed; 0 = it is free."""
    of = keys.of(resource)
    return [max(0, int(left)) for left in (yield Batch([("PTTL", of.lock(name)) for name in names]))] if names else []


class SideView(NamedTuple):
    """What stats say beyond the look: flags derived from leases, the due index, the quarantine.

    `due_since` is the server's time (Unix ms) from which on the longest waiting scope has been due, None while none is, and
    for an ACL user who may not look into the index, which names everybody.
    """

    scope: str
    observing: bool
    reflecting: bool
    due_since: int | None
    rejected: int
    dropped: int = 0


def side_view(keys: Keys, resource: str, looks: Sequence[Look]) -> Steps[SideView]:
    """Read the leases and indexes of a resource's scopes: a chunk is observed, a scope reflected, while its lock is held."""
    of, scopes = keys.of(resource), [look.scope for look in looks]
    chunks = [of.lock(f"chunk:{chunk.id}") for look in looks for chunk in look.chunks if not chunk.ready]
    reflects = [of.lock(f"reflect:{scope.thread}" if scope.thread else "reflect") for scope in scopes]
    locks = (("EXISTS", name) for name in (*chunks, *reflects))
    scope, rejected, dropped, *held = yield Batch(
        [("GET", of.scope), ("LLEN", of.rejected), ("HGET", of.tokens, DROPPED), *locks]
    )
    nothing: list[float | None] = [None]
    *indexes, looked = yield from if_permitted(_scores(keys, scopes), nothing)
    due = [score for score in indexes if score is not None and score <= looks[0].now]
    return SideView(
        scope=scope.decode() if scope else "",
        observing=any(held[: len(chunks)]),
        reflecting=any(held[len(chunks) :]),
        due_since=_due_since(min(due), looked or 0, looks[0].now) if due else None,
        rejected=int(rejected),
        dropped=int(dropped or 0),
    )


def _due_since(score: float, looked: float, now: int) -> int:
    """When a scope became due that stands at `score`: an urgent one stands ahead of its time, by as much as is fixed.

    An old score may also be one that nobody took up. Then nobody has looked at the resource since.
    """
    urgent = now - score >= URGENT_MS and looked > score
    return int(score + URGENT_MS * urgent)


def _scores(keys: Keys, scopes: Sequence[Scope]) -> Steps[list[float | None]]:
    """Where each scope stands in the due index, and at the end when the resource was looked at last."""
    asked = [("ZSCORE", keys.due_observe, str(scope)) for scope in scopes]
    replies = yield Batch([*asked, ("ZSCORE", keys.resources, scopes[0].resource)], atomic=False)
    return [None if reply is None else float(reply) for reply in replies]

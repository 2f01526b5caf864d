"""A scope as a worker decides by it. The answer may be old by the time it is used: scripts check."""

from collections.abc import Collection, Mapping, Sequence
from typing import NamedTuple, TypeAlias, TypeVar

from om_api.domain.messages import Message
from om_api.domain.values import Chunk, Record, Scope, to_ms
from om_api.store.driver.partitions import asked
from om_api.store.driver.replies import Pair, as_bool, as_bytes, as_float, as_hash, as_int, as_pairs, server_ms, write
from om_api.store.driver.steps import Batch, Steps, batch, by_name, each, if_permitted
from om_api.store.memory.decoding import (
    as_chunk,
    as_record,
    forgetful_threads,
    observable_threads,
    parsed_once,
)
from om_api.store.memory.due import URGENT_MS, due_since
from om_api.store.memory.keys import Keys, ResourceKeys
from om_api.store.memory.known import COMPLETE
from om_api.store.memory.quarantine import DROPPED

T = TypeVar("T")
Hash: TypeAlias = dict[bytes, bytes]
_Own: TypeAlias = (
    "tuple[Hash, list[Pair], bytes | None]"  # of one scope alone: its record, its chunks' names, its draft
)
_AT_ONCE = 100  # scopes in one batch
MOST_THREADS = 100  # whose raw sets a look reads: the least recently active ones
_READ_WHOLE = 1_000  # messages: of more, a look reads the last of each thread only


class RawSet(NamedTuple):
    """A thread's raw set: how many members it has, how many of them are counted, and those that were read: the last, or all."""

    members: int
    counted: int
    pairs: list[Pair]

    @property
    def last(self) -> int:
        """The Unix ms of the last member; 0 = there is none, or it is no time."""
        return (to_ms(self.pairs[-1][1]) or 0) if self.pairs else 0


class ScopeState(NamedTuple):
    """What a worker decides by: a scope's record, counters and chunks at about one instant.

    `word` is the scope in force (resource or thread), None while nothing was ever sealed; `raw` the raw sets of its
    threads, where they were asked for. `unlearned`: it holds messages of an older version, whose ids may not be known;
    `tidy_at` (ms): when ids may be forgotten whose messages have expired, 0 = nobody knows yet. `counts`: its resource has
    counters, of messages or of what else there was. `indexed`: the version of recall's index that nothing of it lacks,
    "" = something may. `forgetful` are its threads that leave no memory: they are in no other field, and no move is about them.
    """

    scope: Scope
    word: str | None
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
    raw: dict[str, RawSet]
    unlearned: bool
    tidy_at: int
    counts: bool = False
    indexed: str = ""
    forgetful: Mapping[str, tuple[int, int]] = {}

    @property
    def last(self) -> dict[str, int]:
        """When threads with a raw set were last heard of; one dated ahead when it was first seen, not anew at every look."""
        return {
            thread: raw.last if raw.last <= self.now else self.thread_times.get(thread, self.now)
            for thread, raw in self.raw.items()
            if raw.last
        }


def look(keys: Keys, scope: Scope, chunks: Collection[str] = ()) -> Steps[ScopeState]:
    """Read what a worker decides by, in one round trip where `chunks` names all that it has, else in two."""
    return (yield from look_beside(keys, scope, each(()), chunks))[0]


def look_beside(
    keys: Keys, scope: Scope, beside: Batch[T], chunks: Collection[str] = ()
) -> Steps[tuple[ScopeState, T]]:
    """The same, and what else is asked for in its first round trip."""
    (found,), said = yield from _looks(keys, [scope], chunks, beside)
    return found, said


def looks(keys: Keys, scopes: Sequence[Scope]) -> Steps[list[ScopeState]]:
    """The same of several scopes of one resource, in two round trips for every 100 of them."""
    found: list[ScopeState] = []
    for start in range(0, len(scopes), _AT_ONCE):
        found += (yield from _looks(keys, scopes[start : start + _AT_ONCE], (), each(())))[0]
    return found


def _looks(
    keys: Keys, scopes: Sequence[Scope], chunks: Collection[str], beside: Batch[T]
) -> Steps[tuple[list[ScopeState], T]]:
    resource = scopes[0].resource
    around, hashes, said = yield from batch(_around(keys, scopes), _hashes(keys, resource, chunks), beside)
    hashes |= yield from _hashes(keys, resource, around.names - hashes.keys())
    pairs = zip(scopes, around.each, strict=True)
    return [_state(scope, around, own)._replace(chunks=_chunks(own, hashes)) for scope, own in pairs], said


def meet(
    keys: Keys,
    scope: Scope,
    chunks: Collection[str] = (),
    threads: Collection[str] = (),
    *,
    seals: bool = False,
    keep: int = 0,
) -> Steps[ScopeState]:
    """A look that also reads raw sets (in thread scope always its own), in as many round trips.

    It takes one where `chunks` and `threads` name all that there are. A thread that they do not name is read whole for who
    `seals`, where so much is raw that it will be, and no more than one move may take. `keep` is how many messages of a thread
    are never idle, see `threads_to_read`.
    """
    resource = scope.resource
    around, hashes, raw = yield from batch(
        _around(keys, [scope]), _hashes(keys, resource, chunks), raw_sets(keys, resource, threads)
    )
    own = around.each[0]
    state = _state(scope, around, own)
    sought = {*threads_to_read(state, keep), *([scope.thread] if scope.thread else [])}
    few = sum(messages for _, messages in state.unsealed.values()) <= _READ_WHOLE
    whole = seals and few and not state.paused and state.unsealed_tokens >= (state.wake or 0)
    more, others = yield from batch(
        _hashes(keys, resource, around.names - hashes.keys()),
        raw_sets(keys, resource, sorted(sought - raw.keys()), whole=whole),
    )
    # a thread that was emptied meanwhile is read once more: its last message is still the newest that was heard of it
    found = {thread: each for thread, each in (raw | others).items() if thread in sought or not each.members}
    return state._replace(chunks=_chunks(own, hashes | more), raw=found)


def threads_to_read(state: ScopeState, keep: int = 0) -> list[str]:
    """The threads that a move may be about: those with raw messages, at most MOST_THREADS.

    Threads that an owner wants observed come first, then the least recently active ones, and last those with at most `keep`
    messages, which idle time never seals, so that others do not wait behind them for ever.
    """
    times, unsealed, asked = state.thread_times, state.unsealed, {field.partition(":")[2] for field in state.forced}

    def place(thread: str) -> tuple[bool, bool, int, str]:
        return thread not in asked, unsealed[thread][1] <= keep, times.get(thread, state.now), thread

    return sorted(unsealed, key=place)[:MOST_THREADS]


class _Around(NamedTuple):
    """What looks at one resource's scopes have in common, and what is of each alone."""

    now: int
    word: bytes | None
    counts: Hash
    threads: list[Pair]
    each: list[_Own]

    @property
    def names(self) -> set[str]:
        return {name.decode() for _, chunks, _ in self.each for name, _ in chunks}


def _around(keys: Keys, scopes: Sequence[Scope]) -> Batch[_Around]:
    of = keys.of(scopes[0].resource)
    return batch(
        server_ms(),
        as_bytes("GET", of.scope),
        as_hash("HGETALL", of.tokens),
        as_pairs("ZRANGE", of.threads, 0, -1, "WITHSCORES"),
        each(_own(of, scope) for scope in scopes),
    ).then(lambda found: _Around(*found))


def _own(of: ResourceKeys, scope: Scope) -> Batch[_Own]:
    return batch(
        as_hash("HGETALL", of.record(scope)),
        as_pairs("ZRANGE", of.chunks(scope), 0, -1, "WITHSCORES"),
        as_bytes("GET", of.draft(scope)),
    )


def _hashes(keys: Keys, resource: str, names: Collection[str]) -> Batch[dict[str, Hash]]:
    of = keys.of(resource)
    return by_name(names, lambda name: as_hash("HGETALL", of.chunk(name)), atomic=False)


def _chunks(own: _Own, hashes: Mapping[str, Hash]) -> list[Chunk]:
    return [as_chunk(name.decode(), seq, hashes[name.decode()]) for name, seq in own[1]]


def _state(scope: Scope, around: _Around, own: _Own) -> ScopeState:
    """All but what its chunks and raw sets say."""
    counts, (record, _, draft) = around.counts, own
    unsealed = {name: value for name, value in observable_threads(counts).items() if scope.thread in {None, name}}
    forgetful = {name: value for name, value in forgetful_threads(counts).items() if scope.thread in {None, name}}
    return ScopeState(
        scope=scope,
        word=around.word.decode() if around.word else None,
        record=as_record(record),
        unsealed=unsealed,
        unsealed_tokens=sum(tokens for tokens, _ in unsealed.values()),
        chunks=[],
        thread_times={name.decode(): int(at) for name, at in around.threads},
        forced={k.decode(): v.decode() for k, v in record.items() if k.startswith(b"force")},
        draft=draft,
        paused=b"*paused" in counts,
        signing_key=counts.get(b"*key", b"").decode("ascii", "ignore"),
        now=around.now,
        wake=int(counts.get(wake_field(scope).encode(), 0)) or None,
        raw={},
        unlearned=b"*" in counts and COMPLETE.encode() not in counts,
        tidy_at=int(record.get(b"tidy_at", 0)),
        counts=bool(counts),
        indexed=record.get(b"indexed", b"").decode(),
        forgetful=forgetful,
    )


def wake_field(scope: Scope) -> str:
    """Where the tokens hash says from how many unsealed tokens on a push is due."""
    return "*wake" if scope.thread is None else f"*wake:{scope.thread}"


def raw_sets(keys: Keys, resource: str, names: Collection[str], *, whole: bool = False) -> Batch[dict[str, RawSet]]:
    """What tells whether threads hold members that nobody counted, and when they were last heard of."""
    of, start = keys.of(resource), 0 if whole else -1

    def raw_set(name: str) -> Batch[RawSet]:
        read = as_pairs("ZRANGE", of.messages(name), start, -1, "WITHSCORES")
        counts = as_int("ZCARD", of.messages(name)), as_int("HGET", of.tokens, "#" + name)
        return batch(*counts, read).then(lambda found: RawSet(*found))

    return by_name(names, raw_set)


def firsts(keys: Keys, resource: str, names: Sequence[str]) -> Batch[dict[str, float]]:
    """The score of the oldest raw member of threads, 0 where nothing is raw."""
    of = keys.of(resource)

    def first(name: str) -> Batch[float]:
        return as_pairs("ZRANGE", of.messages(name), 0, 0, "WITHSCORES").then(
            lambda found: found[0][1] if found else 0.0
        )

    return by_name(names, first)


def raw_messages(
    keys: Keys,
    resource: str,
    threads: Sequence[str],
    read: Mapping[str, RawSet] | None = None,
    most: Mapping[str, int] | None = None,
) -> Steps[dict[str, list[tuple[bytes, Message]]]]:
    """The unsealed members of threads with what they say, oldest first; malformed ones are left to adoption.

    What was `read` whole is not read again. Of a thread that `most` names only so many of the oldest are read.
    """
    of, known = (
        keys.of(resource),
        {name: raw.pairs for name, raw in (read or {}).items() if len(raw.pairs) == raw.members},
    )

    def oldest(name: str) -> Batch[list[Pair]]:
        return as_pairs("ZRANGE", of.messages(name), 0, (most or {}).get(name, 0) - 1, "WITHSCORES")

    known |= yield from by_name([name for name in threads if name not in known], oldest)
    return {
        thread: [(pair[0], said) for pair in known[thread] if (said := parsed_once(pair, thread, resource))]
        for thread in threads
    }


def sealed_messages(keys: Keys, resource: str, chunk: Chunk) -> Batch[list[Message]]:
    """The messages a chunk covers, oldest first."""
    read = as_pairs("ZRANGE", keys.of(resource).sealed(chunk.id), 0, -1, "WITHSCORES")
    return read.then(lambda pairs: list(filter(None, (parsed_once(pair, chunk.thread, resource) for pair in pairs))))


def leave(keys: Keys, state: ScopeState, locks: Sequence[str]) -> Steps[list[int]]:
    """End a look: note that there was one, and when threads were last heard of, never earlier than noted before.

    For how many ms more each of the resource's locks is held, unless it is renewed; 0 = it is free.
    """
    return (yield from asked(keys.layout, lambda: _leave(keys, state, locks)))


def _leave(keys: Keys, state: ScopeState, locks: Sequence[str]) -> Batch[list[int]]:
    resource = state.scope.resource
    of, last, noted = keys.of(resource), state.last, list[Batch[None]]()
    if state.record.epoch or state.unsealed or state.forgetful:
        noted.append(write(("ZADD", keys.resources.of(resource), state.now, resource)))
    if any(at > state.thread_times.get(thread, 0) for thread, at in last.items()):
        noted.append(write(("ZADD", of.threads, "GT", *(part for thread, at in last.items() for part in (at, thread)))))
    held = each(as_int("PTTL", of.lock(name)) for name in locks)
    return batch(held, each(noted), atomic=False).then(lambda found: [max(0, left) for left in found[0]])


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


def side_view(keys: Keys, resource: str, looks: Sequence[ScopeState]) -> Steps[SideView]:
    """Read the leases and indexes of a resource's scopes: a chunk is observed, a scope reflected, while its lock is held."""
    of, scopes = keys.of(resource), [look.scope for look in looks]
    chunks = [of.lock(f"chunk:{chunk.id}") for look in looks for chunk in look.chunks if not chunk.ready]
    reflects = [of.lock(f"reflect:{scope.thread}" if scope.thread else "reflect") for scope in scopes]
    rejected, dropped, observing, reflecting = yield from batch(
        as_int("LLEN", of.rejected), as_int("HGET", of.tokens, DROPPED), _any_of(chunks), _any_of(reflects)
    )
    indexes, looked = yield from if_permitted(_indexed(keys, resource, scopes), ([], None))
    due = [due_since(score) for score in indexes if score is not None and score <= looks[0].now]
    since = _due_since(min(due), looked or 0, looks[0].now) if due else None
    return SideView(looks[0].word or "", observing, reflecting, since, rejected, dropped)


def _indexed(keys: Keys, resource: str, scopes: Sequence[Scope]) -> Steps[tuple[list[float | None], float | None]]:
    def look() -> Batch[tuple[list[float | None], float | None]]:
        due = keys.due_observe.of(resource)
        places = each(as_float("ZSCORE", due, str(scope)) for scope in scopes)
        return batch(places, as_float("ZSCORE", keys.resources.of(resource), resource), atomic=False)

    return (yield from asked(keys.layout, look))


def _any_of(locks: Sequence[str]) -> Batch[bool]:
    return each(as_bool("EXISTS", name) for name in locks).then(any)


def _due_since(score: float, looked: float, now: int) -> int:
    """When a scope became due that stands at `score`: an urgent one stands ahead of its time, by as much as is fixed.

    An old score may also be one that nobody took up. Then nobody has looked at the resource since.
    """
    urgent = now - score >= URGENT_MS and looked > score
    return int(score + URGENT_MS * urgent)

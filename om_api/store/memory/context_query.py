"""What one look at a thread's context asks the server for, and what of the replies is the answer to what."""

from collections.abc import Collection, Mapping, Sequence
from typing import Any, NamedTuple, Protocol

from om_api.domain.histories.retraction import marks_of
from om_api.domain.values import Scope
from om_api.store.driver.replies import Pair, fields, scored
from om_api.store.memory.keys import ResourceKeys, working_fields

OTHERS = 10  # other threads whose newest messages are read for excerpts; the rest appear as a count
EXCERPT_MESSAGES = 8
OTHERS_CHUNKS = 4 * OTHERS  # chunks of other threads whose newest messages are read, the newest chunks
NEWEST = 256  # raw messages of the own thread that are read at first: more only where a context has room for more
_FIXED = 13


class Names(NamedTuple):
    """What a snapshot must name beforehand: the chunks, and other threads with raw messages.

    `sealed` names the chunks of which messages are read, with the rank of the first of them. `newest` is how many of the
    thread's own raw messages are. `owners` are the threads of chunks that are read.
    """

    scope: Scope
    chunks: Collection[str]
    others: tuple[str, ...]
    sealed: Mapping[str, int] = {}
    newest: int = NEWEST
    owners: tuple[str, ...] = ()


class ObservationsFound(Protocol):
    """What was read of a memory's observations: those that came, how many there are, and of which memory."""

    @property
    def record(self) -> Mapping[bytes, bytes]:
        """Its bookkeeping."""

    @property
    def observations(self) -> list[Pair]:
        """What came, from the last that was held on."""

    @property
    def known(self) -> int:
        """How many there are."""


class HeldMemory(NamedTuple):
    """What a reader holds of a memory, and need not read again while it is that memory.

    Within an `epoch` a chunk covers what it covered when it was sealed, and one that is ready stays as it is (`ready`).
    Within a `generation` of it observations come at the end only, and go only by being forgotten, which their number
    tells. The last of them is read again: what a crash of the server took with its last second may have come anew, as
    another observation at the same place.
    """

    scope: Scope
    epoch: bytes | None
    generation: bytes | None
    observations: list[Pair]
    sealed: Mapping[str, list[Pair]]
    ready: Mapping[str, Mapping[bytes, bytes]]

    def whole(self, found: "ObservationsFound") -> list[Pair] | None:
        """All observations, with those that came; None when this is no longer what is held."""
        last, new = self.observations[-1:], found.observations
        same = (found.record.get(b"epoch"), found.record.get(b"generation")) == (self.epoch, self.generation)
        if not same or new[: len(last)] != last or found.known != len(self.observations) + len(new) - len(last):
            return None
        return [*self.observations, *new[len(last) :]]


class Answers(NamedTuple):
    """The replies of one look, told apart. `known` is how many observations there are, `newest` the threads heard of last.

    `own` are the newest raw messages of the thread, which are not sealed, of `members`; `sealed` those of chunks that were read.
    `retracted` are the marks of what is retracted, by thread.

    `stands` is the thread that the name stands for which was asked for, if it is an alias.
    """

    time: Sequence[Any]
    scope: bytes | None
    tokens: Mapping[bytes, bytes]
    record: Mapping[bytes, bytes]
    chunks: list[Pair]
    observations: list[Pair]
    known: int
    reflections: Sequence[bytes]
    state: Mapping[bytes, bytes]
    own: list[Pair]
    members: int
    working: Sequence[bytes | None]
    stands: bytes | None
    details: Mapping[str, Mapping[bytes, bytes]]
    sealed: Mapping[str, list[Pair]]
    others: Mapping[str, list[Pair]]
    retracted: Mapping[str, frozenset[bytes]]
    newest: Sequence[bytes]


def commands(
    of: ResourceKeys, thread: str, known: Names, held: HeldMemory | None, name: str = ""
) -> list[tuple[Any, ...]]:
    """What to ask for: everything that is named, but for what is held; and what `name` stands for, by which it is asked for."""
    scope = known.scope
    asked: list[tuple[Any, ...]] = [
        ("TIME",),
        ("GET", of.scope),
        ("HGETALL", of.tokens),
        ("HGETALL", of.record(scope)),
        ("ZRANGE", of.chunks(scope), 0, -1, "WITHSCORES"),
        _observations(of.observations(scope), held),
        ("ZCARD", of.observations(scope)),
        ("ZRANGE", of.reflections(scope), -1, -1),
        ("HGETALL", of.thread(thread)),
        ("ZRANGE", of.messages(thread), -known.newest, -1, "WITHSCORES"),
        ("ZCARD", of.messages(thread)),
        ("HGET", of.aliases, name or thread),
        ("HMGET", of.working, *working_fields("", thread)),
    ]
    asked += [("HGETALL", of.chunk(chunk)) for chunk in known.chunks if not held or chunk not in held.ready]
    asked += [
        ("ZRANGE", of.sealed(chunk), start, -1, "WITHSCORES")
        for chunk, start in known.sealed.items()
        if not held or chunk not in held.sealed
    ]
    asked += [("ZRANGE", of.messages(other), -EXCERPT_MESSAGES, -1, "WITHSCORES") for other in known.others]
    asked += [("HGET", of.known(name), "@") for name in _shown(thread, known)]
    return [*asked, ("ZRANGE", of.threads, 0, 2 * OTHERS, "REV")]


def _shown(thread: str, known: Names) -> list[str]:
    """The threads whose messages a context may show, as far as they are known."""
    return [*dict.fromkeys([thread, *known.others, *known.owners])]


def _observations(key: str, held: HeldMemory | None) -> tuple[Any, ...]:
    if held is None or not held.observations:
        return ("ZRANGE", key, 0, -1, "WITHSCORES")
    return ("ZRANGE", key, format(held.observations[-1][1], ".17g"), "+inf", "BYSCORE", "WITHSCORES")


def answers(replies: Sequence[Any], thread: str, known: Names, held: HeldMemory | None) -> Answers:
    """What was replied to `commands`."""
    time, scope, tokens, record, chunks, observations, count, reflections, state, *more = replies[:_FIXED]
    own, members, stands, working = more
    rest = iter(replies[_FIXED:-1])
    ready, kept = (held.ready, held.sealed) if held else ({}, {})
    details = {chunk: ready[chunk] if chunk in ready else fields(next(rest)) for chunk in known.chunks}
    return Answers(
        time=time,
        scope=scope,
        tokens=fields(tokens),
        record=fields(record),
        chunks=scored(chunks),
        observations=scored(observations),
        known=int(count),
        reflections=reflections,
        state=fields(state),
        own=scored(own),
        members=int(members),
        working=working,
        stands=stands,
        details=details,
        sealed={chunk: kept[chunk] if chunk in kept else scored(next(rest)) for chunk in known.sealed},
        others={other: scored(next(rest)) for other in known.others},
        retracted={name: marks_of(next(rest)) for name in _shown(thread, known)},
        newest=replies[-1],
    )

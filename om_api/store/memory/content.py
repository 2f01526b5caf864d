"""Everything that one scope's memory holds, its history included, for changes that are made of all of it."""

from __future__ import annotations

from typing import NamedTuple

from om_api.domain.values import Scope, Stored
from om_api.store.driver.replies import as_fields, as_hash, as_list, as_pairs
from om_api.store.driver.steps import Steps, batch, by_name, each
from om_api.store.memory.decoding import as_stored
from om_api.store.memory.keys import Keys, histories


class WaitingChunk(NamedTuple):
    """A chunk that is not activated yet: whose messages it holds, their tokens, how many they are."""

    chunk: str
    thread: str
    tokens: int
    messages: int


class Content(NamedTuple):
    """A scope's memory as it was read; `histories` is what its generations replaced, as far as it has not expired."""

    scope: Scope
    epoch: str
    seq: str
    generation: str
    chunks: list[WaitingChunk]
    observations: list[Stored]
    generations: list[tuple[int, bytes]]
    histories: dict[int, list[Stored]]


def content(keys: Keys, scope: Scope) -> Steps[Content]:
    """Read a scope's memory, in two round trips; the second cannot be of another memory unless the epoch is."""
    of = keys.of(scope.resource)
    names, record, observations, generations = yield from batch(
        as_list("ZRANGE", of.chunks(scope), 0, -1),
        as_hash("HGETALL", of.record(scope)),
        as_pairs("ZRANGE", of.observations(scope), 0, -1, "WITHSCORES").then(as_stored),
        as_pairs("ZRANGE", of.reflections(scope), 0, -1, "WITHSCORES"),
    )
    reached = record.get(b"generation", b"0").decode()
    chunks, replaced = yield from batch(
        each(as_fields("HMGET", of.chunk(name.decode()), "thread", "tokens", "messages") for name in names),
        by_name(histories(int(reached)), lambda n: as_pairs("ZRANGE", of.reflected(scope, n), 0, -1, "WITHSCORES")),
        atomic=False,
    )
    return Content(
        scope,
        record.get(b"epoch", b"").decode(),
        record.get(b"seq", b"0").decode(),
        reached,
        [
            WaitingChunk(name.decode(), (thread or b"").decode(), int(tokens or 0), int(messages or 0))
            for name, (thread, tokens, messages) in zip(names, chunks, strict=True)
        ],
        observations,
        [(int(n), member) for member, n in generations],
        {n: as_stored(pairs) for n, pairs in replaced.items()},
    )

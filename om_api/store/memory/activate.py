"""From ready chunks to observations that a context shows."""

from collections.abc import Sequence
from typing import Any

import msgspec

from om_api.domain.values import Chunk, Outcome, Scope, new_id
from om_api.store.driver.replies import outcome
from om_api.store.driver.steps import Steps, Verb
from om_api.store.memory.keys import Keys


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
    left = [chunk for chunk in chunks if chunk.id not in chosen]
    names = [of.record(scope), of.chunks(scope), of.observations(scope)]
    for chunk in picked + left:
        names += [of.chunk(chunk.id), of.sealed(chunk.id), of.source(chunk.id)]
        names += [of.thread(chunk.thread), of.sources(chunk.thread), of.known(chunk.thread)]
    args: list[Any] = [epoch, activation, len(picked), ttl_s]
    args += [word for chunk in picked for word in _activated(chunk, activation)]
    args += [word for chunk in left for word in (chunk.id, b"", 0, "", "")]
    return (yield from Verb("activate", names, args, outcome))


def _activated(chunk: Chunk, activation: str) -> tuple[Any, ...]:
    said = msgspec.json.decode(chunk.observation) if chunk.observation else {}
    member = msgspec.json.encode({**said, "activation": activation}) if said else b""
    return chunk.id, member, said.get("tokens", 0), said.get("task_state", ""), said.get("suggested_response", "")

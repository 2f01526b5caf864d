"""From ready chunks to observations that a context shows."""

from collections.abc import Sequence
from typing import Any

import msgspec

from om_api.domain.kept.titles import suggestion
from om_api.domain.message_tokens import Count
from om_api.domain.notes.activations import wrappers
from om_api.domain.values import Chunk, Outcome, Scope, new_id
from om_api.store.driver.replies import outcome
from om_api.store.driver.steps import Steps, Verb
from om_api.store.memory.keys import Keys

SEEN_MS = 5_000  # for so long what was read may be activated, so that nothing is in force much later than it says


def activate(
    keys: Keys,
    scope: Scope,
    epoch: str,
    chunks: Sequence[Chunk],
    chosen: Sequence[str],
    ttl_s: int,
    activation: str | None = None,
    read_at: int = 0,
    *,
    count: Count,
) -> Steps[Outcome]:
    """Turn ready chunks into observations. `chunks` are all that were seen, `chosen` the ids to activate.

    `read_at` (server's ms) is when they were seen, and what observations say of when they came in force; 0: they do not. Refused
    where the memory is another, a chunk is ready no longer or behind one that was left, or it was seen more than SEEN_MS ago.
    An observation's tokens are then those of its text and of what a context writes around it, by `count`: thresholds weigh both.
    """
    of, activation = keys.of(scope.resource), activation or new_id()
    picked = sorted((chunk for chunk in chunks if chunk.id in chosen), key=lambda chunk: chunk.seq)
    left = [chunk for chunk in chunks if chunk.id not in chosen]
    names = [of.record(scope), of.chunks(scope), of.observations(scope)]
    for chunk in [*picked, *left]:
        names += [of.chunk(chunk.id), of.sealed(chunk.id), of.source(chunk.id)]
        names += [of.thread(chunk.thread), of.sources(chunk.thread), of.known(chunk.thread), of.messages(chunk.thread)]
        names.append(of.segment(chunk.id))
    args: list[Any] = [epoch, activation, len(picked), ttl_s]
    said = [msgspec.json.decode(chunk.observation) if chunk.observation else {} for chunk in picked]
    came: dict[str, Any] = {"activation": activation} | ({"activated_at": read_at} if read_at else {})
    besides = wrappers(
        ((noted.get("thread_id", ""), noted.get("text", "")) for noted in said), count, pooled=scope.thread is None
    )
    for chunk, noted, tokens in zip(picked, said, besides, strict=True):
        args += _activated(chunk, noted, came | {"tokens": noted.get("tokens", 0) + tokens, "wrapper_tokens": tokens})
    args += [word for chunk in left for word in (chunk.id, b"", 0, "", "")]
    args += [*(word for noted in said for word in _newest(noted)), read_at + SEEN_MS if read_at else 0]
    return (yield from Verb("activate", names, args, outcome))


def _activated(chunk: Chunk, noted: dict[str, Any], came: dict[str, Any]) -> tuple[Any, ...]:
    member = msgspec.json.encode({**noted, **came}) if noted else b""
    task = _answer(noted.get("task_state", ""), noted.get("no_task", False))
    suggested = _answer(noted.get("suggested_response", ""), noted.get("no_suggestion", False))
    return chunk.id, member, came["tokens"], task, suggested


def _answer(text: str, none: bool) -> str:  # noqa: FBT001 - as the wire has it
    """What a section said, as the script takes it: "" where there was no such section."""
    return f"={text}" if text or none else ""


def _newest(noted: dict[str, Any]) -> tuple[Any, ...]:
    *_, last = noted.get("source_range") or [""]
    return noted.get("to", 0), last, noted.get("spoken_at", 0), suggestion(noted.get("extracted", {}))

"""Moving a memory between scopes: from one pool to its threads, or from the threads into one pool."""

from collections.abc import Callable, Sequence
from typing import Any

import msgspec

from om_api.domain.errors import InvalidInputError
from om_api.domain.notes.groups import lifetime
from om_api.domain.notes.pins import written
from om_api.domain.values import Generation, Outcome, Scope, new_id, shown
from om_api.settings.recorded_settings import RecordedSettings
from om_api.store.driver.replies import says
from om_api.store.driver.steps import Steps, Verb, exact
from om_api.store.memory import activate, clear, due, reading, requests, scope_state
from om_api.store.memory.content import SHARED_IN, TOLD, Content, content
from om_api.store.memory.keys import Keys, ResourceKeys
from om_api.store.memory.moved import Moved, to_pool, to_threads

_MOST_GENERATIONS = 100_000


def migrate(keys: Keys, resource: str, to: str, count: Callable[[str], int], now: RecordedSettings) -> Steps[Outcome]:
    """Move a resource's memory to scope `to`. Ready chunks are activated first; `busy` while one is still unready.

    Raw messages stay where they are: they belong to their thread in both scopes. A move there and back leaves the memory as
    it was. Nothing is sealed while this runs unnoticed: a chunk that came meanwhile, of a new thread too, makes the move
    `superseded`, and nothing has changed then.
    """
    if to not in {"resource", "thread"}:
        raise InvalidInputError(f"a scope is 'resource' or 'thread', not {to!r}")
    stored = yield from reading.stored_scope(keys, resource)
    if stored is None or stored == to:
        return Outcome.REST
    threads = yield from clear.threads_of(keys, resource)
    pool, apart = [Scope(resource)], [Scope(resource, thread) for thread in threads]
    olds, scopes = (pool, apart) if to == "thread" else (apart, pool)
    parts = yield from _read(keys, olds, now, count)
    if parts is None:
        return Outcome.BUSY
    news = to_threads(parts[0], threads) if to == "thread" else [to_pool(resource, parts)]
    waiting = {}
    for scope in olds:
        waiting[scope] = yield from requests.requests(keys, scope)
    if not (yield from Verb("migrate", *_call(keys.of(resource), to, parts, news, count, now), says(b"migrated"))):
        return Outcome.SUPERSEDED
    for scope, asked in waiting.items():
        yield from requests.hand_on(keys, scope, asked, scopes)
    yield from due.mark(keys.due_observe, scopes)
    return Outcome.ACTIVATED


def _read(
    keys: Keys, scopes: Sequence[Scope], now: RecordedSettings, count: Callable[[str], int]
) -> Steps[list[Content] | None]:
    """What is to be moved; None while a chunk of it is not ready."""
    parts: list[Content] = []
    for scope in scopes:
        if not (yield from _activated(keys, scope, now, count)):
            return None
        parts += [(yield from content(keys, scope))]
    return parts


def _activated(keys: Keys, scope: Scope, now: RecordedSettings, count: Callable[[str], int]) -> Steps[bool]:
    look = yield from scope_state.look(keys, scope)
    ready = [chunk.id for chunk in look.chunks if chunk.ready]
    if len(ready) < len(look.chunks):
        return False
    if not ready:
        return True
    done = yield from activate.activate(
        keys, scope, look.record.epoch, look.chunks, ready, now.retention_s, read_at=look.now, count=count
    )
    return done is Outcome.ACTIVATED


def _call(
    of: ResourceKeys,
    to: str,
    parts: Sequence[Content],
    news: Sequence[Moved],
    count: Callable[[str], int],
    now: RecordedSettings,
) -> tuple[list[str], list[Any]]:
    most = max((int(part.generation) for part in parts), default=0)
    if most > _MOST_GENERATIONS:  # a name of a key for each of them would fill this process
        raise InvalidInputError(
            f"too many generations: {shown(most)}; at most {_MOST_GENERATIONS:,} move to another scope"
        )
    names = [of.scope, of.tokens, of.threads]
    for scope in [*(part.scope for part in parts), *(new.scope for new in news)]:
        names += [of.record(scope), of.chunks(scope), of.observations(scope), of.reflections(scope)]
        names += [of.draft(scope), of.reflected(scope, 1)]
    names += [of.reflected(part.scope, n) for part in parts for n in range(2, int(part.generation) + 1)]
    args: list[Any] = ["thread" if to == "resource" else "resource", to, len(parts), len(news)]
    args += [word for part in parts for word in (part.scope.thread or "", part.epoch, part.generation, part.seq)]
    for new in news:
        args += _written(new, count, now.retention_s)
    return names, args


def _written(new: Moved, count: Callable[[str], int], ttl_s: int) -> list[Any]:
    lead, tokens = _counted(new.generation, count)
    everything = [*new.observations, *new.history]
    weight = sum(stored.observation.tokens for stored in new.observations)
    observed = sum(stored.observation.message_tokens for stored in everything)
    messages = sum(len(stored.observation.message_ids) for stored in everything)
    args: list[Any] = [
        new.scope.thread or "",
        new_id(),
        lead,
        tokens,
        weight,
        observed,
        messages,
        new.seq,
        new.pool_seq,
    ]
    fields = {
        "pins": written(new.pins),
        "created_at": new.created_at,
        SHARED_IN: (new.created_at or "1") if new.takes else "",
    }
    fields |= {f"{TOLD}{target}": exact(seq) for target, seq in new.told.items()}
    args += [sum(map(bool, fields.values())), *(word for pair in fields.items() if pair[1] for word in pair)]
    lives = lifetime((stored.observation for stored in new.history), ttl_s)
    args += [lives, len(new.observations), len(new.history)]
    return args + [word for stored in everything for word in (exact(stored.seq), stored.member)]


def _counted(lead: Generation | None, count: Callable[[str], int]) -> tuple[bytes, int]:
    if lead is None:
        return b"", 0
    tokens = count(lead.text) if lead.text else 0
    return msgspec.json.encode(msgspec.structs.replace(lead, tokens=tokens, input_tokens=tokens)), tokens

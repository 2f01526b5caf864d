"""Moving a memory between scopes: from one pool to its threads, or from the threads into one pool."""

import re
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import msgspec

from om_api.domain.errors import InvalidInputError
from om_api.domain.values import Generation, Outcome, Scope, Stored, new_id
from om_api.settings.recorded_settings import RecordedSettings
from om_api.store.driver.replies import says
from om_api.store.driver.steps import Steps, Verb
from om_api.store.memory import activate, clear, due, reading, requests, scope_state
from om_api.store.memory.content import Content, content
from om_api.store.memory.keys import Keys, ResourceKeys

_SECTION = re.compile(r"<thread id=\"([^\"]+)\">\n?(.*?)\n?</thread>", re.DOTALL)


def migrate(keys: Keys, resource: str, to: str, count: Callable[[str], int], now: RecordedSettings) -> Steps[Outcome]:
    """Move a resource's memory to scope `to`. Ready chunks are activated first; `busy` while one is still unready.

    Raw messages stay where they are: they belong to their thread in both scopes. Nothing is sealed while this runs
    unnoticed: a chunk that came meanwhile makes the move `superseded`, and nothing has changed then.
    """
    if to not in {"resource", "thread"}:
        raise InvalidInputError(f"a scope is 'resource' or 'thread', not {to!r}")
    stored = yield from reading.stored_scope(keys, resource)
    if stored is None or stored == to:
        return Outcome.REST
    threads = yield from clear.threads_of(keys, resource)
    pool, apart = [Scope(resource)], [Scope(resource, thread) for thread in threads]
    olds, scopes = (pool, apart) if to == "thread" else (apart, pool)
    parts = yield from _read(keys, olds, now)
    if parts is None:
        return Outcome.BUSY
    news = _to_threads(parts[0], threads) if to == "thread" else [_to_pool(resource, parts)]
    waiting = {}
    for scope in olds:
        waiting[scope] = yield from requests.requests(keys, scope)
    if not (yield from Verb("migrate", *_call(keys.of(resource), to, parts, news, count, now), says(b"migrated"))):
        return Outcome.SUPERSEDED
    for scope, asked in waiting.items():
        yield from requests.hand_on(keys, scope, asked, scopes)
    yield from due.mark(keys.due_observe, scopes)
    return Outcome.ACTIVATED


def _read(keys: Keys, scopes: Sequence[Scope], now: RecordedSettings) -> Steps[list[Content] | None]:
    """What is to be moved; None while a chunk of it is not ready."""
    parts: list[Content] = []
    for scope in scopes:
        if not (yield from _activated(keys, scope, now)):
            return None
        parts += [(yield from content(keys, scope))]
    return parts


def _activated(keys: Keys, scope: Scope, now: RecordedSettings) -> Steps[bool]:
    look = yield from scope_state.look(keys, scope)
    ready = [chunk.id for chunk in look.chunks if chunk.ready]
    if len(ready) < len(look.chunks):
        return False
    if not ready:
        return True
    done = yield from activate.activate(keys, scope, look.record.epoch, look.chunks, ready, now.retention_s)
    return done is Outcome.ACTIVATED


class _New(NamedTuple):
    """One scope's memory as it will be."""

    scope: Scope
    observations: list[Stored]
    history: list[Stored]
    text: str
    origin: Generation | None


def _to_threads(part: Content, threads: Sequence[str]) -> list[_New]:
    # A reflection is of all threads. Each gets its own sections; what stands outside of sections is common and goes to all.
    generation = part.in_force
    text = generation.text if generation else ""
    sections: dict[str, list[str]] = {}
    for name, body in _SECTION.findall(text):
        sections.setdefault(name, []).append(body.strip())
    common = _SECTION.sub("", text).strip()
    met = (stored.observation.thread_id for stored in (*part.observations, *part.history))
    news = []
    for name in sorted({*threads, *sections, *met}):
        lead = "\n".join(piece for piece in (common, *sections.get(name, [])) if piece)
        own = part.of_thread(name)
        if own.observations or own.history or lead:
            scope = Scope(part.scope.resource, name)
            news.append(_New(scope, own.observations, own.history, lead, generation))
    return news


def _to_pool(resource: str, parts: Sequence[Content]) -> _New:
    generations = {part.scope.thread: found for part in parts if (found := part.in_force)}
    leads = [
        f'<thread id="{thread}">\n{generation.text}\n</thread>'
        for thread, generation in generations.items()
        if generation.text.strip()
    ]
    newest = max(generations.values(), key=lambda generation: generation.created_at, default=None)
    observations = _by_time([stored for part in parts for stored in part.observations])
    history = _by_time([stored for part in parts for stored in part.history])
    return _New(Scope(resource), observations, history, "\n".join(leads), newest)


def _by_time(stored: list[Stored]) -> list[Stored]:
    return sorted(stored, key=lambda each: (each.observation.created_at, each.observation.to))


def _call(
    of: ResourceKeys,
    to: str,
    parts: Sequence[Content],
    news: Sequence[_New],
    count: Callable[[str], int],
    now: RecordedSettings,
) -> tuple[list[str], list[Any]]:
    names = [of.scope, of.tokens]
    for scope in [*(part.scope for part in parts), *(new.scope for new in news)]:
        names += [of.record(scope), of.chunks(scope), of.observations(scope), of.reflections(scope)]
        names += [of.draft(scope), of.reflected(scope, 1)]
    names += [of.reflected(part.scope, n) for part in parts for n in range(2, int(part.generation) + 1)]
    args: list[Any] = ["thread" if to == "resource" else "resource", to, now.retention_s, len(parts), len(news)]
    args += [word for part in parts for word in (part.epoch, part.generation, part.seq)]
    for new in news:
        args += _written(new, count)
    return names, args


def _written(new: _New, count: Callable[[str], int]) -> list[Any]:
    # Fresh seqs, history first: seqs of several threads' memories would collide.
    tokens = count(new.text) if new.text else 0
    everything = [*new.history, *new.observations]
    seqs = [(seq, stored.member) for seq, stored in enumerate(everything, 1)]
    past = len(new.history)
    weight = sum(stored.observation.tokens for stored in new.observations)
    observed = sum(stored.observation.message_tokens for stored in everything)
    messages = sum(len(stored.observation.message_ids) for stored in everything)
    args: list[Any] = [new_id(), _lead(new, tokens), tokens, weight, observed, messages, len(seqs)]
    args += [len(new.observations), past]
    return args + [word for pair in (*seqs[past:], *seqs[:past]) for word in pair]


def _lead(new: _New, tokens: int) -> bytes:
    if new.origin is None or not (new.text or new.history):
        return b""
    ids = tuple(stored.observation.id for stored in new.history)
    lead = msgspec.structs.replace(
        new.origin,
        n=1,
        origin="restore",
        restores=None,
        text=new.text,
        tokens=tokens,
        input_tokens=tokens,
        observation_ids=ids,
        dropped_ids=(),
        loss=None,
        candidates=(),
    )
    return msgspec.json.encode(lead)

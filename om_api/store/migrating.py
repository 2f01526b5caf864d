"""Moving a memory between scopes: from one pool to its threads, or from the threads into one pool."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any, NamedTuple

import msgspec

from om_api.errors import InvalidInputError
from om_api.store import clearing, commits, decoding, due, looking, reading
from om_api.store.keys import histories
from om_api.store.steps import Batch, Steps, Verb
from om_api.values import Generation, Outcome, Scope, new_id

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from om_api.in_force import InForce
    from om_api.store.keys import Keys
    from om_api.values import Stored

_SECTION = re.compile(r"<thread id=\"([^\"]+)\">\n?(.*?)\n?</thread>", re.DOTALL)


class _Part(NamedTuple):
    """One scope's memory as it was read; `history` is what its generations stand for, as far as it has not expired."""

    scope: Scope
    version: tuple[str, str, str]
    observations: list[Stored]
    generation: Generation | None
    history: list[Stored]


def migrate(keys: Keys, resource: str, to: str, count: Callable[[str], int], now: InForce) -> Steps[Outcome]:
    """Move a resource's memory to scope `to`. Ready chunks are activated first; `busy` while one is still unready.

    Raw messages stay where they are: they belong to their thread in both scopes. Nothing is sealed while this runs
    unnoticed: a chunk that came meanwhile makes the move `superseded`, and nothing has changed then.
    """
    if to not in {"resource", "thread"}:
        raise InvalidInputError(f"a scope is 'resource' or 'thread', not {to!r}")
    of = keys.of(resource)
    (stored,) = yield Batch([("GET", of.scope)])
    if stored is None or stored.decode() == to:
        return Outcome.REST
    threads = yield from clearing.threads_of(keys, resource)
    olds = [Scope(resource)] if to == "thread" else [Scope(resource, thread) for thread in threads]
    parts = []
    for scope in olds:
        if not (yield from _activated(keys, scope, now)):
            return Outcome.BUSY
        parts.append((yield from _read(keys, scope)))
    news = _to_threads(parts[0], threads) if to == "thread" else [_to_pool(resource, parts)]
    waiting = {}
    for scope in olds:
        waiting[scope] = yield from commits.requests(keys, scope)
    reply = yield Verb("migrate", *_call(keys, resource, to, parts, news, count, now))
    if reply != b"migrated":
        return Outcome.SUPERSEDED
    scopes = [Scope(resource)] if to == "resource" else [Scope(resource, thread) for thread in threads]
    for scope, asked in waiting.items():
        yield from commits.hand_on(keys, scope, asked, scopes)
    yield from due.mark(keys.due_observe, scopes)
    return Outcome.ACTIVATED


def _activated(keys: Keys, scope: Scope, now: InForce) -> Steps[bool]:
    look = yield from looking.look(keys, scope)
    ready = [chunk.id for chunk in look.chunks if chunk.ready]
    if len(ready) < len(look.chunks):
        return False
    if not ready:
        return True
    done = yield from commits.activate(keys, scope, look.record.epoch, look.chunks, ready, now.retention_s)
    return done is Outcome.ACTIVATED


def _read(keys: Keys, scope: Scope) -> Steps[_Part]:
    of = keys.of(scope.resource)
    version, observations, generations = yield Batch(
        [
            ("HMGET", of.record(scope), "epoch", "generation", "seq"),
            ("ZRANGE", of.observations(scope), 0, -1, "WITHSCORES"),
            ("ZRANGE", of.reflections(scope), -1, -1),
        ]
    )
    epoch, reached, seq = (
        (value or otherwise).decode() for value, otherwise in zip(version, (b"", b"0", b"0"), strict=True)
    )
    history: list[Stored] = []
    for n in histories(int(reached)):
        history += yield from reading.replaced(keys, scope, n)
    generation = decoding.as_generation(generations[0]) if generations else None
    return _Part(scope, (epoch, reached, seq), decoding.as_stored(observations), generation, history)


class _New(NamedTuple):
    """One scope's memory as it will be."""

    scope: Scope
    observations: list[Stored]
    history: list[Stored]
    text: str
    origin: Generation | None


def _to_threads(part: _Part, threads: Sequence[str]) -> list[_New]:
    # A reflection is of all threads. Each gets its own sections; what stands outside of sections is common and goes to all.
    text = part.generation.text if part.generation else ""
    sections: dict[str, list[str]] = {}
    for name, body in _SECTION.findall(text):
        sections.setdefault(name, []).append(body.strip())
    common = _SECTION.sub("", text).strip()
    met = (stored.observation.thread_id for stored in (*part.observations, *part.history))
    news = []
    for name in sorted({*threads, *sections, *met}):
        lead = "\n".join(piece for piece in (common, *sections.get(name, [])) if piece)
        own, past = (_of_thread(stored, name) for stored in (part.observations, part.history))
        if own or past or lead:
            news.append(_New(Scope(part.scope.resource, name), own, past, lead, part.generation))
    return news


def _of_thread(stored: Sequence[Stored], thread: str) -> list[Stored]:
    return [each for each in stored if each.observation.thread_id == thread]


def _to_pool(resource: str, parts: Sequence[_Part]) -> _New:
    leads = [
        f'<thread id="{part.scope.thread}">\n{part.generation.text}\n</thread>'
        for part in parts
        if part.generation and part.generation.text.strip()
    ]
    newest = max((part.generation for part in parts if part.generation), key=lambda g: g.created_at, default=None)
    observations = _by_time([each for part in parts for each in part.observations])
    return _New(
        Scope(resource), observations, _by_time([e for part in parts for e in part.history]), "\n".join(leads), newest
    )


def _by_time(stored: list[Stored]) -> list[Stored]:
    return sorted(stored, key=lambda each: (each.observation.created_at, each.observation.to))


def _call(
    keys: Keys,
    resource: str,
    to: str,
    parts: Sequence[_Part],
    news: Sequence[_New],
    count: Callable[[str], int],
    now: InForce,
) -> tuple[list[str], list[Any]]:
    of = keys.of(resource)
    names = [of.scope, of.tokens]
    for scope in [*(part.scope for part in parts), *(new.scope for new in news)]:
        names += [of.record(scope), of.chunks(scope), of.observations(scope), of.reflections(scope)]
        names += [of.draft(scope), of.reflected(scope, 1)]
    names += [of.reflected(part.scope, n) for part in parts for n in range(2, int(part.version[1]) + 1)]
    args: list[Any] = ["thread" if to == "resource" else "resource", to, now.retention_s, len(parts), len(news)]
    args += [word for part in parts for word in part.version]
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

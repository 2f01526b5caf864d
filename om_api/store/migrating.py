"""Moving a memory between scopes: from one pool to its threads, or from the threads into one pool."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any, NamedTuple

import msgspec

from om_api.errors import InvalidInputError
from om_api.store import clearing, commits, due, reading
from om_api.store.steps import Batch, Steps, Verb
from om_api.values import Generation, Outcome, Scope, new_id

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from om_api.in_force import InForce
    from om_api.store.keys import Keys
    from om_api.values import Stored

_SECTION = re.compile(r"<thread id=\"([^\"]+)\">\n?(.*?)\n?</thread>", re.DOTALL)


class _Part(NamedTuple):
    """One scope's memory as it was read."""

    scope: Scope
    version: tuple[str, str, str]
    observations: list[Stored]
    generation: Generation | None


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
    reply = yield Verb("migrate", *_call(keys, resource, to, parts, news, count, now))
    if reply != b"migrated":
        return Outcome.SUPERSEDED
    yield from due.mark(keys.due_observe, [new.scope for new in news])
    return Outcome.ACTIVATED


def _activated(keys: Keys, scope: Scope, now: InForce) -> Steps[bool]:
    look = yield from reading.look(keys, scope)
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
    words = tuple((value or otherwise).decode() for value, otherwise in zip(version, (b"", b"0", b"0"), strict=True))
    generation = reading.as_generation(generations[0]) if generations else None
    return _Part(scope, words, reading.as_stored(observations), generation)  # type: ignore[arg-type]


class _New(NamedTuple):
    """One scope's memory as it will be."""

    scope: Scope
    members: list[bytes]
    tokens: int
    text: str
    origin: Generation | None


def _to_threads(part: _Part, threads: Sequence[str]) -> list[_New]:
    # A reflection is of all threads. Each gets its own section; what stands outside of sections is common and goes to all.
    text = part.generation.text if part.generation else ""
    sections: dict[str, list[str]] = {}
    for name, body in _SECTION.findall(text):
        sections.setdefault(name, []).append(body.strip())
    common = _SECTION.sub("", text).strip()
    names = sorted({*threads, *sections, *(stored.observation.thread_id for stored in part.observations)})
    news = []
    for name in names:
        own = [stored for stored in part.observations if stored.observation.thread_id == name]
        lead = "\n".join(piece for piece in (common, *sections.get(name, [])) if piece)
        if own or lead:
            weight = sum(stored.observation.tokens for stored in own)
            news.append(_New(Scope(part.scope.resource, name), [s.member for s in own], weight, lead, part.generation))
    return news


def _to_pool(resource: str, parts: Sequence[_Part]) -> _New:
    stored = [each for part in parts for each in part.observations]
    stored.sort(key=lambda each: (each.observation.created_at, each.observation.to))
    leads = [
        f'<thread id="{part.scope.thread}">\n{part.generation.text}\n</thread>'
        for part in parts
        if part.generation and part.generation.text.strip()
    ]
    newest = max((part.generation for part in parts if part.generation), key=lambda g: g.created_at, default=None)
    weight = sum(each.observation.tokens for each in stored)
    return _New(Scope(resource), [each.member for each in stored], weight, "\n".join(leads), newest)


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
        names += [of.record(scope), of.chunks(scope), of.observations(scope), of.reflections(scope), of.draft(scope)]
    args: list[Any] = ["thread" if to == "resource" else "resource", to, now.retention_s, len(parts)]
    args += [word for part in parts for word in part.version]
    for new in news:
        tokens = count(new.text) if new.text else 0
        args += [new_id(), _lead(new, tokens), tokens, len(new.members), new.tokens]
        args += [word for seq, member in enumerate(new.members, 1) for word in (seq, member)]
    return names, args


def _lead(new: _New, tokens: int) -> bytes:
    if not new.text or new.origin is None:
        return b""
    return msgspec.json.encode(
        msgspec.structs.replace(new.origin, n=1, origin="restore", text=new.text, tokens=tokens, input_tokens=tokens)
    )

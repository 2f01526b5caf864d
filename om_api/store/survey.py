"""Walking over everything: finding what no index names, in bounded slices."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

from om_api.store.decoding import as_record, fields, unsealed_threads
from om_api.store.looking import wake_field
from om_api.store.steps import Batch, Steps

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from om_api.store.keys import Keys
    from om_api.values import Record, Scope

_SLICE = 1_000  # keys of one SCAN
_CURSOR_S = 3_600
_AT_ONCE = 100  # scopes in one batch
_COUNTERS = {b"hash", b"none"}  # what a resource's counters may be
_DIGITS = 15  # of the largest number that every client reads alike


def waiting_for_adoption(keys: Keys, n: int) -> Steps[list[str]]:
    """Take up to n hints of plain writers. Taken before their keys are read: a hint that comes later is a new one."""
    (found,) = yield Batch([("ZPOPMIN", keys.adopt, n)], writes=True)
    flat = [part for entry in found for part in (entry if isinstance(entry, list | tuple) else [entry])]
    return [key.decode("utf-8", "replace") for key in flat[::2]]


def hint(keys: Keys, names: Sequence[str]) -> Steps[None]:
    """Put hints back that were taken, for the next time."""
    for start in range(0, len(names), _SLICE):
        pairs = (part for name in names[start : start + _SLICE] for part in (0, name))
        yield Batch([("ZADD", keys.adopt, "NX", *pairs)], writes=True)


def adoptable(keys: Keys, names: Sequence[str]) -> Steps[list[str]]:
    """Those of the hinted keys that hold members which nobody counted, or that are of the older form and hold any.

    Who may hint may name anything, and may have made it of another type: such a key is left out.
    """
    parsed = [(name, key) for name in names if (key := keys.parse_messages(name))]
    asked = [(name, keys.of(key.resource or "").tokens, key) for name, key in parsed]
    types = yield from _types([each for name, tokens, _ in asked for each in (name, tokens)])
    asked = [one for one in asked if types[one[0]] == b"zset" and types[one[1]] in _COUNTERS]
    commands = [
        command for name, tokens, key in asked for command in (("ZCARD", name), ("HGET", tokens, "#" + key.thread))
    ]
    replies = (yield _small(commands)) if commands else []
    found = zip(asked, replies[::2], replies[1::2], strict=True)
    return [name for (name, _, key), card, n in found if int(card) != (_counted(n) if key.resource else 0)]


def _types(names: Sequence[str]) -> Steps[dict[str, bytes]]:
    found = (yield _small([("TYPE", name) for name in names])) if names else []
    return dict(zip(names, found, strict=True))


def _counted(n: bytes | None) -> int:
    """How many messages of a thread were counted; of what is no number of ours -1, which no key has: it is counted again."""
    return 0 if not n else int(n) if n.isdigit() and len(n) <= _DIGITS else -1


def _small(commands: Sequence[tuple[str, ...]]) -> Batch:
    return Batch(commands, atomic=False, slim=True)


def written(keys: Keys, scopes: Sequence[Scope]) -> Steps[list[bool]]:
    """Of each scope whether anything was ever written under its name that still stands."""
    commands: list[tuple[str, ...]] = []
    for scope in scopes:
        of = keys.of(scope.resource)
        whole = (of.tokens,) if scope.thread is None else (of.messages(scope.thread), of.chunks(scope))
        commands.append(("EXISTS", of.record(scope), of.observations(scope), *whole))
    replies = (yield _small(commands)) if commands else []
    return [bool(int(n)) for n in replies]


def stray_keys(keys: Keys, slices: int) -> Steps[list[str]]:
    """Messages keys with members that nobody counted, or of resources that no worker has met; at most `slices` of 1,000 keys.

    Each survey begins where the last one stopped.
    """
    (cursor,) = yield Batch([("GET", keys.sweep_cursor)])
    at, strays = int(cursor or 0), list[str]()
    for _ in range(slices):
        ((at_, found),) = yield Batch(
            [("SCAN", at, "MATCH", f"{keys.prefix}:*messages:*", "COUNT", _SLICE, "TYPE", "zset")]
        )
        at = int(at_)
        strays += yield from _astray(keys, sorted(key.decode("utf-8", "replace") for key in found))
        if not at:
            break
    yield Batch([("SET", keys.sweep_cursor, at, "EX", _CURSOR_S)], writes=True)
    return strays


def _astray(keys: Keys, names: Sequence[str]) -> Steps[list[str]]:
    parsed = [(name, key) for name in names if (key := keys.parse_messages(name))]
    strays = [name for name, key in parsed if key.resource is None]
    known = [(name, key.resource, key.thread) for name, key in parsed if key.resource is not None]
    types = yield from _types([keys.of(resource).tokens for _, resource, _ in known])
    known = [one for one in known if types[keys.of(one[1]).tokens] in _COUNTERS]
    if known:
        commands: list[tuple[str, ...]] = [("ZMSCORE", keys.resources, *(resource for _, resource, _ in known))]
        for name, resource, thread in known:
            commands += [("ZCARD", name), ("HGET", keys.of(resource).tokens, "#" + thread)]
        listed, *replies = yield _small(commands)
        found = zip(known, replies[::2], replies[1::2], listed, strict=True)
        strays += [name for (name, _, _), card, n, at in found if int(card) != _counted(n) or at is None]
    return strays


def oldest_looked(keys: Keys, before: int, n: int) -> Steps[list[str]]:
    """Up to n resources that no worker has looked at since Unix ms `before`, the longest neglected first."""
    (found,) = yield Batch([("ZRANGE", keys.resources, "-inf", before, "BYSCORE", "LIMIT", 0, n)])
    return [name.decode() for name in found]


class Standing(NamedTuple):
    """How a scope stands against the due indexes; `unsealed` and `largest` (of a thread) in messages, `tokens` unsealed.

    `wake`: the tokens it is next looked at from; 0 = nobody knows. `drafted`: a reflection is thought already.
    """

    scope: Scope
    record: Record
    unsealed: int
    largest: int
    tokens: int
    wake: int
    chunks: int
    drafted: bool
    observe_at: float | None
    in_reflect: bool
    forced: tuple[str, ...]


def standings(keys: Keys, resource: str, scopes: Sequence[Scope]) -> Steps[list[Standing]]:
    """A resource's scopes: what is unsealed and in chunks, and whether the due indexes know of it."""
    found: list[Standing] = []
    for start in range(0, len(scopes), _AT_ONCE):
        found += yield from _standings(keys, resource, scopes[start : start + _AT_ONCE])
    return found


def _standings(keys: Keys, resource: str, scopes: Sequence[Scope]) -> Steps[list[Standing]]:
    of, own, indexed = keys.of(resource), list[tuple[str, ...]](), list[tuple[str, ...]]()
    for scope in scopes:
        own += [("HGETALL", of.record(scope)), ("ZCARD", of.chunks(scope)), ("EXISTS", of.draft(scope))]
        indexed += [("ZSCORE", keys.due_observe, str(scope)), ("ZSCORE", keys.due_reflect, str(scope))]
    tokens, *held = yield Batch([("HGETALL", of.tokens), *own])
    due = yield Batch(indexed, atomic=False)
    counters, unsealed = fields(tokens), unsealed_threads(fields(tokens))
    each = zip(scopes, held[::3], held[1::3], held[2::3], due[::2], due[1::2], strict=True)
    return [_standing(scope, counters, unsealed, *replies) for scope, *replies in each]


def _standing(
    scope: Scope, counters: Mapping[bytes, bytes], unsealed: Mapping[str, tuple[int, int]], *replies: Any
) -> Standing:
    record, chunks, draft, observe, reflect = replies
    own = [value for thread, value in unsealed.items() if scope.thread in {None, thread}]
    wake, raw = counters.get(wake_field(scope).encode()), fields(record)
    return Standing(
        scope=scope,
        record=as_record(raw),
        unsealed=sum(messages for _, messages in own),
        largest=max((messages for _, messages in own), default=0),
        tokens=sum(tokens for tokens, _ in own),
        wake=int(wake or 0),
        chunks=int(chunks),
        drafted=bool(draft),
        observe_at=None if observe is None else float(observe),
        in_reflect=reflect is not None,
        forced=tuple(name.decode() for name in raw if name.startswith(b"force")),
    )

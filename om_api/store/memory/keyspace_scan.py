"""Walking over everything: finding what no index names, in bounded slices."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

from om_api.domain.values import Scope
from om_api.store.driver.replies import as_bool, as_bytes, as_float, as_int, as_list, as_pairs, command, write
from om_api.store.driver.steps import Batch, Steps, batch, by_name, each
from om_api.store.memory.keys import Keys

_SLICE = 1_000  # keys of one SCAN
_CURSOR_S = 3_600
_COUNTERS = {b"hash", b"none"}  # what a resource's counters may be
_DIGITS = 15  # of the largest number that every client reads alike


def waiting_for_adoption(keys: Keys, n: int) -> Batch[list[str]]:
    """Take up to n hints of plain writers. Taken before their keys are read: a hint that comes later is a new one."""
    taken = as_pairs("ZPOPMIN", keys.adopt, n).writing()
    return taken.then(lambda pairs: [key.decode("utf-8", "replace") for key, _ in pairs])


def hint(keys: Keys, names: Sequence[str]) -> Steps[None]:
    """Put hints back that were taken, for the next time."""
    for start in range(0, len(names), _SLICE):
        pairs = (part for name in names[start : start + _SLICE] for part in (0, name))
        yield from write(("ZADD", keys.adopt, "NX", *pairs))


def adoptable(keys: Keys, names: Sequence[str]) -> Steps[list[str]]:
    """Those of the hinted keys that hold members which nobody counted, or that are of the older form and hold any.

    Who may hint may name anything, and may have made it of another type: such a key is left out.
    """
    parsed = [(name, key) for name in names if (key := keys.parse_messages(name))]
    asked = [(name, keys.of(key.resource or "").tokens, key) for name, key in parsed]
    types = yield from _types([one for name, tokens, _ in asked for one in (name, tokens)])
    asked = [one for one in asked if types[one[0]] == b"zset" and types[one[1]] in _COUNTERS]
    found = yield from each(
        (_weighed(name, tokens, key.thread) for name, tokens, key in asked), atomic=False, slim=True
    )
    return [
        name
        for (name, _, key), (card, counted) in zip(asked, found, strict=True)
        if card != (counted if key.resource else 0)
    ]


def _types(names: Sequence[str]) -> Batch[dict[str, bytes | None]]:
    return by_name(names, lambda name: as_bytes("TYPE", name), atomic=False, slim=True)


def _weighed(name: str, tokens: str, thread: str) -> Batch[tuple[int, int]]:
    """How many members a messages key has, and how many of them were counted."""
    return batch(as_int("ZCARD", name), as_bytes("HGET", tokens, "#" + thread).then(_counted))


def _counted(n: bytes | None) -> int:
    """How many messages of a thread were counted; of what is no number of ours -1, which no key has: it is counted again."""
    return 0 if not n else int(n) if n.isdigit() and len(n) <= _DIGITS else -1


def written(keys: Keys, scopes: Sequence[Scope]) -> Batch[list[bool]]:
    """Of each scope whether anything was ever written under its name that still stands."""
    return each((_written(keys, scope) for scope in scopes), atomic=False, slim=True)


def _written(keys: Keys, scope: Scope) -> Batch[bool]:
    of = keys.of(scope.resource)
    whole = (of.tokens,) if scope.thread is None else (of.messages(scope.thread), of.chunks(scope))
    return as_bool("EXISTS", of.record(scope), of.observations(scope), *whole)


def stray_keys(keys: Keys, slices: int) -> Steps[list[str]]:
    """Messages keys with members that nobody counted, or of resources that no worker has met; at most `slices` of 1,000 keys.

    Each survey begins where the last one stopped.
    """
    at, strays = (yield from as_int("GET", keys.sweep_cursor)), list[str]()
    pattern = f"{keys.prefix}:*messages:*"
    for _ in range(slices):
        at, found = yield from command(_scanned, "SCAN", at, "MATCH", pattern, "COUNT", _SLICE, "TYPE", "zset")
        strays += yield from _astray(keys, sorted(found))
        if not at:
            break
    yield from write(("SET", keys.sweep_cursor, at, "EX", _CURSOR_S))
    return strays


def _scanned(reply: Any) -> tuple[int, list[str]]:
    return int(reply[0]), [key.decode("utf-8", "replace") for key in reply[1]]


def _astray(keys: Keys, names: Sequence[str]) -> Steps[list[str]]:
    parsed = [(name, key) for name in names if (key := keys.parse_messages(name))]
    strays = [name for name, key in parsed if key.resource is None]
    known = [(name, keys.of(key.resource).tokens, key) for name, key in parsed if key.resource is not None]
    types = yield from _types([tokens for _, tokens, _ in known])
    known = [one for one in known if types[one[1]] in _COUNTERS]
    found = yield from each(
        (
            batch(as_float("ZSCORE", keys.resources, key.resource), _weighed(name, tokens, key.thread))
            for name, tokens, key in known
        ),
        atomic=False,
        slim=True,
    )
    for (name, _, _), (at, (card, counted)) in zip(known, found, strict=True):
        if card != counted or at is None:
            strays.append(name)
    return strays


def oldest_looked(keys: Keys, before: int, n: int) -> Batch[list[str]]:
    """Up to n resources that no worker has looked at since Unix ms `before`, the longest neglected first."""
    found = as_list("ZRANGE", keys.resources, "-inf", before, "BYSCORE", "LIMIT", 0, n)
    return found.then(lambda names: [name.decode() for name in names])


class Place(NamedTuple):
    """Where a scope stands in the due indexes: when it is to be looked at, if at all, and whether it waits for the Reflector."""

    observe_at: float | None
    reflects: bool


def places(keys: Keys, scopes: Sequence[Scope]) -> Steps[list[Place]]:
    """Where scopes stand in the due indexes."""
    found: list[Place] = []
    for start in range(0, len(scopes), _SLICE):
        some = scopes[start : start + _SLICE]
        found += yield from each((_place(keys, str(scope)) for scope in some), atomic=False)
    return found


def _place(keys: Keys, scope: str) -> Batch[Place]:
    reflects = as_float("ZSCORE", keys.due_reflect, scope).then(lambda at: at is not None)
    return batch(as_float("ZSCORE", keys.due_observe, scope), reflects).then(lambda found: Place(*found))

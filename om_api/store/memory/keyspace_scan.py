"""Walking over everything: finding what no index names, in bounded slices."""

from collections.abc import Callable, Iterator, Sequence
from typing import Any, NamedTuple, TypeVar

from om_api.domain.values import Scope
from om_api.store.driver.replies import (
    as_bytes,
    as_fields,
    as_float,
    as_int,
    as_names,
    as_pairs,
    command,
    scored,
    write,
)
from om_api.store.driver.steps import Batch, Steps, Words, batch, each
from om_api.store.driver.tolerant_read import of_many
from om_api.store.memory.keys import Keys

T = TypeVar("T")
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


class _Hinted(NamedTuple):
    """A messages key, what its name says, and where its resource counts."""

    name: str
    resource: str | None
    thread: str
    tokens: str


def adoptable(keys: Keys, names: Sequence[str]) -> Steps[list[str]]:
    """Those of the hinted keys that hold members which nobody counted, or that are of the older form and hold any.

    Who may hint may name anything, and may have made it of another type: such a key is left out.
    """
    asked = _parsed(keys, names)
    types = yield from _types([name for raw in asked for name in (raw.name, raw.tokens)])
    asked = [raw for raw in asked if types[raw.name] == b"zset" and types[raw.tokens] in _COUNTERS]
    counts = yield from _counts(asked)
    pairs = zip(asked, counts, strict=True)
    return [raw.name for raw, (members, counted) in pairs if members != (counted if raw.resource else 0)]


def _parsed(keys: Keys, names: Sequence[str]) -> list[_Hinted]:
    parsed = [(name, key) for name in names if (key := keys.parse_messages(name))]
    return [_Hinted(name, *key, keys.of(key.resource or "").tokens) for name, key in parsed]


def _small(commands: Sequence[Words], decode: Callable[[Iterator[Any]], T]) -> Batch[T]:
    """Thousands of small reads, whose replies one decoder takes: one for each would cost more than the reads."""
    return Batch(commands, decode, atomic=False, slim=True)


def _types(names: Sequence[str]) -> Batch[dict[str, bytes]]:
    return _small([("TYPE", name) for name in names], lambda replies: dict(zip(names, replies, strict=True)))


def _counts(asked: Sequence[_Hinted]) -> Batch[list[tuple[int, int]]]:
    """Of each key how many members it has, and how many of them were counted."""
    commands = [part for raw in asked for part in (("ZCARD", raw.name), ("HGET", raw.tokens, "#" + raw.thread))]
    return _small(commands, lambda replies: [(next(replies), _counted(next(replies))) for _ in asked])


def _counted(n: bytes | None) -> int:
    """How many messages of a thread were counted; of what is no number of ours -1, which no key has: it is counted again."""
    return 0 if not n else int(n) if n.isdigit() and len(n) <= _DIGITS else -1


def written(keys: Keys, scopes: Sequence[Scope]) -> Batch[list[bool]]:
    """Of each scope whether anything was ever written under its name that still stands."""
    return _small([("EXISTS", *_lasting(keys, scope)) for scope in scopes], lambda replies: [n > 0 for n in replies])


def _lasting(keys: Keys, scope: Scope) -> list[str]:
    of = keys.of(scope.resource)
    whole = (of.tokens,) if scope.thread is None else (of.messages(scope.thread), of.chunks(scope))
    return [of.record(scope), of.observations(scope), *whole]


def stray_keys(keys: Keys, slices: int) -> Steps[list[str]]:
    """Messages keys with members that nobody counted, or of resources that no worker has met; at most `slices` of 1,000 keys.

    Each scan begins where the last one stopped.
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
    parsed = _parsed(keys, names)
    strays = [raw.name for raw in parsed if raw.resource is None]
    types = yield from _types([raw.tokens for raw in parsed])
    known = [raw for raw in parsed if raw.resource is not None and types[raw.tokens] in _COUNTERS]
    if known:
        met = as_fields("ZMSCORE", keys.resources, *(raw.resource for raw in known))
        scores, counts = yield from batch(met, _counts(known), atomic=False)
        pairs = zip(known, scores, counts, strict=True)
        strays += [raw.name for raw, at, (members, counted) in pairs if at is None or members != counted]
    return strays


def oldest_looked(keys: Keys, before: int, n: int) -> Batch[list[str]]:
    """Up to n resources that no worker has looked at since Unix ms `before`, the longest neglected first."""
    return as_names("ZRANGE", keys.resources, "-inf", before, "BYSCORE", "LIMIT", 0, n)


def some_resources(keys: Keys, cursor: int, n: int) -> Batch[tuple[int, list[str]]]:
    """About n of all resources from a cursor on (0 = the beginning), and the next cursor, 0 at the end.

    Whoever was there all the time is met at least once, whatever becomes of the times of looks meanwhile.
    """
    return command(_met, "ZSCAN", keys.resources, cursor, "COUNT", n)


def _met(reply: Any) -> tuple[int, list[str]]:
    return int(reply[0]), [name.decode("utf-8", "replace") for name, _ in scored(list(reply[1]))]


class Recorded(NamedTuple):
    """What is written of a resource: the scope in force, None while nothing was sealed, and the settings that went with it."""

    word: str | None
    limits: str


def recorded(keys: Keys, names: Sequence[str]) -> Steps[dict[str, Recorded]]:
    """What is written of resources, but for those whose keys hold what is not ours."""
    return (yield from of_many(lambda name: _recorded(keys, name), names))


def _recorded(keys: Keys, name: str) -> Batch[Recorded]:
    of = keys.of(name)
    limits = as_bytes("HGET", of.record(Scope(name)), "limits")
    return batch(as_bytes("GET", of.scope), limits, atomic=False).then(
        lambda found: Recorded(found[0].decode() if found[0] else None, (found[1] or b"").decode("utf-8", "replace"))
    )


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

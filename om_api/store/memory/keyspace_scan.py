"""Walking over everything: finding what no index names, in bounded slices."""

from collections.abc import Callable, Iterator, Sequence
from functools import partial
from typing import Any, NamedTuple, TypeVar

from om_api.domain.values import Scope
from om_api.store.driver.partitions import asked, of_all, sure
from om_api.store.driver.replies import (
    as_bytes,
    as_fields,
    as_float,
    as_names,
    as_pairs,
    command,
    scored,
    write,
)
from om_api.store.driver.scanning import BEGINNING, primaries, scan
from om_api.store.driver.steps import Batch, Steps, Words, batch, each
from om_api.store.driver.tolerant_read import of_many
from om_api.store.memory.keys import Keys

T = TypeVar("T")
_SLICE = 1_000  # keys of one SCAN
_CURSOR_S = 3_600
_COUNTERS = {b"hash", b"none"}  # what a resource's counters may be
_DIGITS = 15  # of the largest number that every client reads alike


def waiting_for_adoption(keys: Keys, n: int) -> Steps[list[str]]:
    """Take about n hints of plain writers, who may put them into any part.

    Taken before their keys are read: a hint that comes later is a new one.
    """
    yield from sure(keys.layout)
    parts, plain = keys.adopt.every(), str(keys.adopt)
    shares = {part: n if part == plain else -(-n // len(parts)) for part in parts}
    taken = yield from each([as_pairs("ZPOPMIN", *share).writing() for share in shares.items()], atomic=False)
    return [key.decode("utf-8", "replace") for pairs in taken for key, _ in pairs]


def hint(keys: Keys, names: Sequence[str]) -> Steps[None]:
    """Put hints back that were taken, for the next time."""
    for start in range(0, len(names), _SLICE):
        yield from _hint(keys, names[start : start + _SLICE])


def _hint(keys: Keys, names: Sequence[str]) -> Steps[None]:
    yield from sure(keys.layout)
    by_part: dict[str, list[Any]] = {}
    for name in names:
        key = keys.parse_messages(name)
        by_part.setdefault(keys.adopt.of((key and key.resource) or ""), []).extend((0, name))
    yield from write(*(("ZADD", part, "NX", *pairs) for part, pairs in by_part.items()), atomic=False)


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
    place, strays = ((yield from as_bytes("GET", keys.sweep_cursor)) or b"").decode() or BEGINNING, list[str]()
    nodes, pattern = (yield from primaries()), f"{keys.prefix}:*messages:*"
    for _ in range(slices):
        names, place = yield from scan(nodes, place, "MATCH", pattern, "COUNT", _SLICE, "TYPE", "zset")
        strays += yield from _astray(keys, [name.decode("utf-8", "replace") for name in names])
        if place == BEGINNING:
            break
    yield from write(("SET", keys.sweep_cursor, place, "EX", _CURSOR_S))
    return strays


def _astray(keys: Keys, names: Sequence[str]) -> Steps[list[str]]:
    parsed = _parsed(keys, names)
    strays = [raw.name for raw in parsed if raw.resource is None]
    types = yield from _types([raw.tokens for raw in parsed])
    known = [raw for raw in parsed if raw.resource is not None and types[raw.tokens] in _COUNTERS]
    if known:
        met = yield from asked(keys.layout, lambda: _met_of(keys, [raw.resource or "" for raw in known]))
        pairs = zip(known, (yield from _counts(known)), strict=True)
        strays += [raw.name for raw, (members, counted) in pairs if raw.resource not in met or members != counted]
    return strays


def _met_of(keys: Keys, resources: Sequence[str]) -> Batch[set[str]]:
    """Those of some resources that workers have met."""
    parts = keys.resources.by_part(dict.fromkeys(resources))
    asked = (as_fields("ZMSCORE", part, *names).then(partial(_there, names)) for part, names in parts.items())
    return each(asked, atomic=False).then(lambda found: set[str]().union(*found))


def _there(names: Sequence[str], scores: Sequence[object]) -> set[str]:
    return {name for name, score in zip(names, scores, strict=True) if score is not None}


def all_resources(keys: Keys) -> Steps[list[str]]:
    """Every resource that workers have met."""
    found = yield from of_all(keys.resources, lambda part: as_names("ZRANGE", part, 0, -1))
    return [name for names in found for name in names]


def oldest_looked(keys: Keys, before: int, n: int) -> Steps[list[str]]:
    """About n resources that no worker has looked at since Unix ms `before`, the longest neglected of each part first."""
    share = -(-n // keys.layout.now.count)
    found = yield from of_all(
        keys.resources, lambda part: as_names("ZRANGE", part, "-inf", before, "BYSCORE", "LIMIT", 0, share)
    )
    return [name for names in found for name in names]


def some_resources(keys: Keys, number: int, cursor: int, n: int) -> Steps[tuple[int, list[str]]]:
    """About n resources of one part from a cursor on (0 = the beginning), and the next cursor, 0 at the end.

    Whoever was there all the time is met at least once, whatever becomes of the times of looks meanwhile.
    """
    index = keys.resources
    return (
        yield from asked(
            index.layout,
            lambda: command(_met, "ZSCAN", index.part(number, index.layout.now.count), cursor, "COUNT", n),
        )
    )


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
    """When a scope is due in the indexes of the Observer and of the Reflector; None where it is not in one."""

    observe_at: float | None
    reflect_at: float | None


def places(keys: Keys, scopes: Sequence[Scope]) -> Steps[list[Place]]:
    """Where scopes stand in the due indexes."""
    found: list[Place] = []
    for start in range(0, len(scopes), _SLICE):
        found += yield from asked(keys.layout, partial(_places, keys, scopes[start : start + _SLICE]))
    return found


def _places(keys: Keys, scopes: Sequence[Scope]) -> Batch[list[Place]]:
    return each((_place(keys, str(scope)) for scope in scopes), atomic=False)


def _place(keys: Keys, scope: str) -> Batch[Place]:
    indexes = (keys.due_observe, keys.due_reflect)
    asked = (as_float("ZSCORE", index.of(scope), scope) for index in indexes)
    return each(asked, atomic=False).then(lambda found: Place(*found))

"""Reading what monitoring shows of memories: bounded, and in few round trips however many resources there are."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Any, NamedTuple

from om_api.store.decoding import as_record, fields
from om_api.store.quarantine import UNKNOWN
from om_api.store.spoilt import of_each
from om_api.store.steps import Batch, Steps
from om_api.values import Record, Scope

if TYPE_CHECKING:
    from collections.abc import Sequence

    from om_api.store.keys import Keys

THREADS = 2_000  # records of threads that one look reads, of all resources in thread scope together
ELSEWHERE = 1_000  # resources whose quarantine one look counts although they may have no label of their own
_SLICE = 500
_MOST = 2**53  # tokens that anyone believes


class Level(NamedTuple):
    """How full one scope is: its unsealed tokens, and its record."""

    unsealed: int
    record: Record


class Tiers(NamedTuple):
    """How full a resource's memory is, `scopes` apart; `unsealed` tokens are those of all threads.

    `rejected` entries stand in its quarantine. Of a resource in thread scope, `left_out` threads were not looked at.
    """

    unsealed: int
    rejected: int
    scopes: tuple[Level, ...]
    left_out: int = 0


class Elsewhere(NamedTuple):
    """How many `resources` the workers know, and what stands in quarantines without a label of their own, and in nobody's."""

    resources: int
    rejected: int
    unknown: int


def tiers(keys: Keys, resources: Sequence[str]) -> Steps[dict[str, Tiers]]:
    """How full some resources' memories are. Of many threads in thread scope, those that were heard of last are read.

    A resource whose keys hold what is not ours is left out.
    """
    return (yield from of_each(partial(_tiers, keys), resources))


def _tiers(keys: Keys, resources: Sequence[str]) -> Steps[dict[str, Tiers]]:
    ofs = [keys.of(name) for name in resources]
    asked = [
        [("GET", of.scope), ("HGET", of.tokens, "*"), ("LLEN", of.rejected), ("HGETALL", of.record(Scope(name)))]
        for name, of in zip(resources, ofs, strict=True)
    ]
    replies = yield from _sliced([command for each in asked for command in each])
    found, threaded = dict[str, Tiers](), list[str]()
    for name, scope, tokens, rejected, record in zip(resources, *(replies[n::4] for n in range(4)), strict=True):
        whole = _level(tokens, record)
        found[name] = Tiers(whole.unsealed, int(rejected), (whole,))
        if scope == b"thread":
            threaded.append(name)
    return found | (yield from _by_thread(keys, {name: found[name] for name in threaded}))


def _by_thread(keys: Keys, found: dict[str, Tiers]) -> Steps[dict[str, Tiers]]:
    most = max(1, THREADS // max(1, len(found)))
    names = [
        [("ZCARD", keys.of(name).threads), ("ZRANGE", keys.of(name).threads, 0, most - 1, "REV")] for name in found
    ]
    replies = yield from _sliced([command for each in names for command in each])
    threads = {name: [thread.decode() for thread in reply] for name, reply in zip(found, replies[1::2], strict=True)}
    scopes = yield from _levels(keys, threads)
    return {
        name: found[name]._replace(scopes=scopes[name], left_out=int(there) - len(threads[name]))
        for name, there in zip(found, replies[::2], strict=True)
    }


def _levels(keys: Keys, threads: dict[str, list[str]]) -> Steps[dict[str, tuple[Level, ...]]]:
    pairs = [(name, thread) for name, some in threads.items() for thread in some]
    commands = [
        command
        for name, thread in pairs
        for command in (
            ("HGET", keys.of(name).tokens, thread),
            ("HGETALL", keys.of(name).record(Scope(name, thread))),
        )
    ]
    replies = yield from _sliced(commands)
    found: dict[str, list[Level]] = {name: [] for name in threads}
    for (name, _), tokens, record in zip(pairs, replies[::2], replies[1::2], strict=True):
        found[name].append(_level(tokens, record))
    return {name: tuple(levels) for name, levels in found.items()}


def _level(tokens: bytes | None, reply: Any) -> Level:
    unsealed, record = int(tokens or 0), as_record(fields(reply))
    totals = (record.chunk_tokens, record.observation_tokens, record.reflection_tokens, record.observed_tokens)
    if max(map(abs, (unsealed, *totals))) > _MOST:
        raise ValueError("no memory holds so many tokens")
    return Level(unsealed, record)


def elsewhere(keys: Keys, known: Sequence[str]) -> Steps[Elsewhere]:
    """What is to be said of all together: the quarantines are those of the last ones looked at, without the `known`."""
    last = ("ZRANGE", keys.resources, 0, ELSEWHERE - 1, "REV")
    nobodys = keys.of(UNKNOWN).rejected
    resources, found, unknown = yield Batch([("ZCARD", keys.resources), last, ("LLEN", nobodys)], atomic=False)
    names = [name for name in (each.decode() for each in found) if name not in {*known, UNKNOWN}]
    sizes = yield from of_each(partial(_rejected, keys), names)
    return Elsewhere(int(resources), sum(sizes.values()), int(unknown))


def _rejected(keys: Keys, names: Sequence[str]) -> Steps[dict[str, int]]:
    sizes = yield from _sliced([("LLEN", keys.of(name).rejected) for name in names])
    return dict(zip(names, map(int, sizes), strict=True))


def _sliced(commands: Sequence[tuple[Any, ...]]) -> Steps[list[Any]]:
    """The replies of any number of commands, some hundred in each round trip."""
    replies: list[Any] = []
    for start in range(0, len(commands), _SLICE):
        replies += yield Batch(commands[start : start + _SLICE], atomic=False)
    return replies

"""Reading what monitoring shows of memories: bounded, and in few round trips however many resources there are."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from typing import NamedTuple

from om_api.domain.values import Record, Scope
from om_api.store.driver.replies import as_bytes, as_hash, as_int, as_list
from om_api.store.driver.steps import Batch, Steps, batch
from om_api.store.driver.tolerant_read import of_many
from om_api.store.memory.decoding import as_record
from om_api.store.memory.keys import Keys, ResourceKeys
from om_api.store.memory.quarantine import UNKNOWN

THREADS = 2_000  # records of threads that one look reads, of all resources in thread scope together
ELSEWHERE = 1_000  # resources whose quarantine one look counts although they may have no label of their own
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
    found = yield from of_many(partial(_tiers, keys), resources)
    threaded = [name for name, (word, _) in found.items() if word == b"thread"]
    listed = yield from of_many(partial(_threads, keys, max(1, THREADS // max(1, len(threaded)))), threaded)
    scopes = [Scope(name, thread) for name, (_, some) in listed.items() for thread in some]
    levels = yield from of_many(partial(_of_thread, keys), scopes)
    whole = {name: each for name, (word, each) in found.items() if word != b"thread"}
    for name, (there, some) in listed.items():
        own = tuple(level for thread in some if (level := levels.get(Scope(name, thread))))
        if len(own) == len(some):
            whole[name] = found[name][1]._replace(scopes=own, left_out=there - len(some))
    return whole


def _tiers(keys: Keys, resource: str) -> Batch[tuple[bytes | None, Tiers]]:
    of = keys.of(resource)
    level, rejected = _level(of, Scope(resource), "*"), as_int("LLEN", of.rejected)
    found = batch(level, rejected).then(lambda said: Tiers(said[0].unsealed, said[1], (said[0],)))
    return batch(as_bytes("GET", of.scope), found)


def _threads(keys: Keys, most: int, resource: str) -> Batch[tuple[int, list[str]]]:
    """How many threads there are, and those that were heard of last."""
    of = keys.of(resource)
    last = as_list("ZRANGE", of.threads, 0, most - 1, "REV").then(lambda names: [name.decode() for name in names])
    return batch(as_int("ZCARD", of.threads), last)


def _of_thread(keys: Keys, scope: Scope) -> Batch[Level]:
    return _level(keys.of(scope.resource), scope, scope.thread or "")


def _level(of: ResourceKeys, scope: Scope, counter: str) -> Batch[Level]:
    record = as_hash("HGETALL", of.record(scope)).then(as_record)
    return batch(as_int("HGET", of.tokens, counter), record).then(_believed)


def _believed(said: tuple[int, Record]) -> Level:
    unsealed, record = said
    totals = (record.chunk_tokens, record.observation_tokens, record.reflection_tokens, record.observed_tokens)
    if max(map(abs, (unsealed, *totals))) > _MOST:
        raise ValueError("no memory holds so many tokens")
    return Level(unsealed, record)


def elsewhere(keys: Keys, known: Sequence[str]) -> Steps[Elsewhere]:
    """What is to be said of all together: the quarantines are those of the last ones looked at, without the `known`."""
    resources, found, unknown = yield from batch(
        as_int("ZCARD", keys.resources),
        as_list("ZRANGE", keys.resources, 0, ELSEWHERE - 1, "REV"),
        as_int("LLEN", keys.of(UNKNOWN).rejected),
        atomic=False,
    )
    names = [name for name in (each.decode() for each in found) if name not in {*known, UNKNOWN}]
    sizes = yield from of_many(lambda name: as_int("LLEN", keys.of(name).rejected), names)
    return Elsewhere(resources, sum(sizes.values()), unknown)

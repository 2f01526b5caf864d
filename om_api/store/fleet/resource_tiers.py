"""How full many memories are, tier by tier, in few round trips. Bounded; changes nothing."""

from collections.abc import Sequence
from functools import partial
from typing import Any, NamedTuple

from om_api.domain.values import Record, Scope
from om_api.store.driver.partitions import of_all
from om_api.store.driver.replies import as_bytes, as_int, as_names, number
from om_api.store.driver.steps import Batch, Steps, Words, batch
from om_api.store.driver.tolerant_read import of_many
from om_api.store.memory.decoding import as_record
from om_api.store.memory.keys import Keys, ResourceKeys
from om_api.store.memory.quarantine import UNKNOWN

THREADS = 2_000  # records of threads that one look reads, of all resources in thread scope together
ELSEWHERE = 1_000  # resources whose quarantine one look counts although they may have no label of their own
_MOST = 2**53  # tokens that anyone believes


class Level(NamedTuple):
    """How full one scope is: its unsealed tokens, its record, as far as that says, and how many chunks are not activated yet."""

    unsealed: int
    record: Record
    chunks: int = 0
    scope: Scope | None = None


_FIELDS = (
    *("epoch", "generation", "chunk_tokens", "observation_tokens", "reflection_tokens"),
    *("observed_tokens", "limits"),
)  # of a record that tell how full a scope is
_NAMES = tuple(name.encode() for name in _FIELDS)


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
    most = max(1, THREADS // max(1, len(threaded)))
    listed = yield from of_many(lambda name: _newest(keys.of(name).threads, most), threaded)
    scopes = [Scope(name, thread) for name, (_, some) in listed.items() for thread in some]
    levels = yield from of_many(lambda scope: _level(keys.of(scope.resource), scope, scope.thread or ""), scopes)
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


def _level(of: ResourceKeys, scope: Scope, counter: str) -> Batch[Level]:
    asked = (("HGET", of.tokens, counter), *commands(of, scope))
    return Batch(asked, lambda replies: level(scope, number(next(replies)), next(replies), next(replies)))


def commands(of: ResourceKeys, scope: Scope) -> Sequence[Words]:
    """What asks for a scope's record and its chunks, for `level` to take up."""
    return ("HMGET", of.record(scope), *_FIELDS), ("ZCARD", of.chunks(scope))


def level(scope: Scope, unsealed: int, values: Any, chunks: Any) -> Level:
    """How full a scope is that has so many unsealed tokens; raises ValueError where its record holds what nobody believes."""
    record = as_record({name: value for name, value in zip(_NAMES, values, strict=True) if value is not None})
    totals = (record.chunk_tokens, record.observation_tokens, record.reflection_tokens, record.observed_tokens)
    if max(map(abs, (unsealed, record.generation, *totals))) > _MOST:
        raise ValueError("no memory holds so many tokens")
    return Level(unsealed, record, chunks, scope)


def newest(keys: Keys, most: int) -> Steps[tuple[int, list[str]]]:
    """How many resources workers have met, and about `most` of them: those of each part that they looked at last."""
    share = -(-most // keys.layout.now.count)
    parts = yield from of_all(keys.resources, lambda part: _newest(part, share))
    return sum(count for count, _ in parts), [name for _, names in parts for name in names]


def _newest(index: str, most: int) -> Batch[tuple[int, list[str]]]:
    return batch(as_int("ZCARD", index), as_names("ZRANGE", index, 0, most - 1, "REV"), atomic=False)


def elsewhere(keys: Keys, known: Sequence[str]) -> Steps[Elsewhere]:
    """What is to be said of all together: the quarantines are those of the last ones looked at, without the `known`."""
    unmet = as_int("LLEN", keys.of(UNKNOWN).rejected)
    (resources, found), unknown = (yield from newest(keys, ELSEWHERE)), (yield from unmet)
    names = [name for name in found if name not in {*known, UNKNOWN}]
    sizes = yield from of_many(lambda name: as_int("LLEN", keys.of(name).rejected), names)
    return Elsewhere(resources, sum(sizes.values()), unknown)

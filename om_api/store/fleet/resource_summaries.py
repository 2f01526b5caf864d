"""Reading of many resources at once: who is worth a look, how full they are. Bounded, in few round trips; changes nothing."""

from collections.abc import Mapping, Sequence
from functools import partial
from itertools import chain
from typing import NamedTuple

from om_api.domain.values import Record, Scope
from om_api.store.driver.partitions import of_all
from om_api.store.driver.replies import Pair, as_bytes, as_hash, as_int, as_names, as_pairs
from om_api.store.driver.steps import Batch, Steps, batch
from om_api.store.driver.tolerant_read import of_many
from om_api.store.fleet import spending
from om_api.store.memory import due
from om_api.store.memory.decoding import as_record
from om_api.store.memory.keys import Keys, ResourceKeys
from om_api.store.memory.quarantine import UNKNOWN

THREADS = 2_000  # records of threads that one look reads, of all resources in thread scope together
ELSEWHERE = 1_000  # resources whose quarantine one look counts although they may have no label of their own
_MOST = 2**53  # tokens that anyone believes


class ResourceSummary(NamedTuple):
    """What one resource is like: Unix ms of its last message, ms its oldest due scope has waited, tokens, micros.

    `window` is what is raw and in chunks, where one scope holds all of it; what is raw only in a memory of many scopes.
    """

    resource: str
    at: int
    lag: int
    window: int
    micros: int


def lags(keys: Keys, now: int, most: int) -> Steps[dict[str, int]]:
    """For how many ms resources have been due by `now`, as far as the `most` longest due of each index tell.

    An urgent scope is written an hour ahead of the time it came due.
    """
    found: dict[str, int] = {}
    for index in (keys.due_observe, keys.due_reflect):
        share = -(-most // keys.layout.now.count)
        words = ("(-inf", now, "BYSCORE", "LIMIT", 0, share, "WITHSCORES")
        parts = yield from of_all(index, lambda part: as_pairs("ZRANGE", part, *words))  # noqa: B023  asked at once
        for member, score in chain.from_iterable(parts):
            name = member.decode("utf-8", "replace")
            if not Scope.is_one(name):  # who may mark a scope due may write any bytes there
                continue
            since = int(due.due_since(score))
            urgent = due.URGENT_MS if since <= now - due.URGENT_MS else 0
            resource = Scope.parse(name).resource
            found[resource] = max(found.get(resource, 0), now - urgent - since)
    return found


def newest(keys: Keys, most: int) -> Steps[tuple[int, list[str]]]:
    """How many resources workers have met, and about `most` of them: those of each part that they looked at last."""
    share = -(-most // keys.layout.now.count)
    parts = yield from of_all(keys.resources, lambda part: _newest(part, share))
    return sum(count for count, _ in parts), [name for _, names in parts for name in names]


def _newest(index: str, most: int) -> Batch[tuple[int, list[str]]]:
    return batch(as_int("ZCARD", index), as_names("ZRANGE", index, 0, most - 1, "REV"), atomic=False)


def summaries(
    keys: Keys, resources: Sequence[str], waited: Mapping[str, int], now: int
) -> Steps[list[ResourceSummary]]:
    """A summary of each of some resources, four commands each; who holds what is not ours is left out."""
    found = yield from of_many(partial(_summary, keys, waited, now), resources)
    return [*found.values()]


def _summary(keys: Keys, waited: Mapping[str, int], now: int, resource: str) -> Batch[ResourceSummary]:
    of = keys.of(resource)
    return batch(
        as_pairs("ZRANGE", of.threads, 0, 0, "REV", "WITHSCORES"),
        as_int("HGET", of.tokens, "*"),
        as_int("HGET", of.record(Scope(resource)), "chunk_tokens"),
        as_int("HGET", keys.spent_by(spending.day_of(now), resource), "all|micros"),
    ).then(
        lambda said: ResourceSummary(
            resource, _heard(said[0], now), waited.get(resource, 0), said[1] + said[2], said[3]
        )
    )


def _heard(last: Sequence[Pair], now: int) -> int:
    return int(max(0, min(last[0][1], now))) if last else 0


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
    unmet = as_int("LLEN", keys.of(UNKNOWN).rejected)
    (resources, found), unknown = (yield from newest(keys, ELSEWHERE)), (yield from unmet)
    names = [name for name in found if name not in {*known, UNKNOWN}]
    sizes = yield from of_many(lambda name: as_int("LLEN", keys.of(name).rejected), names)
    return Elsewhere(resources, sum(sizes.values()), unknown)

"""Glancing at many resources at once: who is worth a look, found by indexes and read in bounded slices. Changes nothing."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import partial
from typing import NamedTuple

from om_api.domain.values import Scope
from om_api.store.driver.replies import Pair, as_int, as_list, as_pairs
from om_api.store.driver.steps import Batch, Steps, batch
from om_api.store.driver.tolerant_read import of_many
from om_api.store.fleet import spending
from om_api.store.memory import due
from om_api.store.memory.keys import Keys


class Glance(NamedTuple):
    """What one resource is like at a glance: Unix ms of its last message, ms its oldest due scope has waited, tokens, micros.

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
    for key in (keys.due_observe, keys.due_reflect):
        pairs = yield from as_pairs("ZRANGE", key, "(-inf", now, "BYSCORE", "LIMIT", 0, most, "WITHSCORES")
        for name, score in _scopes(pairs):
            urgent = due.URGENT_MS if score <= now - due.URGENT_MS else 0
            resource = Scope.parse(name).resource
            found[resource] = max(found.get(resource, 0), now - urgent - int(score))
    return found


def _scopes(pairs: Sequence[Pair]) -> list[tuple[str, float]]:
    """Without what no scope can be called: who may mark a scope due may write any bytes there."""
    named = [(name.decode("utf-8", "replace"), score) for name, score in pairs]
    return [(name, score) for name, score in named if Scope.is_one(name)]


def newest(keys: Keys, most: int) -> Steps[tuple[int, list[str]]]:
    """How many resources workers have met, and the `most` of them they looked at last."""
    last = as_list("ZRANGE", keys.resources, 0, most - 1, "REV")
    count, names = yield from batch(as_int("ZCARD", keys.resources), last, atomic=False)
    return count, [name.decode() for name in names]


def glances(keys: Keys, resources: Sequence[str], waited: Mapping[str, int], now: int) -> Steps[list[Glance]]:
    """One glance at each of some resources, four commands each; who holds what is not ours is left out."""
    found = yield from of_many(partial(_glance, keys, waited, now), resources)
    return [*found.values()]


def _glance(keys: Keys, waited: Mapping[str, int], now: int, resource: str) -> Batch[Glance]:
    of = keys.of(resource)
    return batch(
        as_pairs("ZRANGE", of.threads, 0, 0, "REV", "WITHSCORES"),
        as_int("HGET", of.tokens, "*"),
        as_int("HGET", of.record(Scope(resource)), "chunk_tokens"),
        as_int("HGET", keys.spent_by(spending.day_of(now), resource), "all|micros"),
    ).then(lambda said: Glance(resource, _heard(said[0], now), waited.get(resource, 0), said[1] + said[2], said[3]))


def _heard(last: Sequence[Pair], now: int) -> int:
    return int(max(0, min(last[0][1], now))) if last else 0

"""Glancing at many resources at once: who is worth a look, found by indexes and read in bounded slices. Changes nothing."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Any, NamedTuple

from om_api.store import due, spending
from om_api.store.decoding import scored
from om_api.store.spoilt import of_each
from om_api.store.steps import Batch, Steps
from om_api.values import Scope

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from om_api.store.keys import Keys

_SLICE = 250


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
        (reply,) = yield Batch([("ZRANGE", key, "(-inf", now, "BYSCORE", "LIMIT", 0, most, "WITHSCORES")])
        for name, score in _scopes(reply):
            urgent = due.URGENT_MS if score <= now - due.URGENT_MS else 0
            resource = Scope.parse(name).resource
            found[resource] = max(found.get(resource, 0), now - urgent - int(score))
    return found


def _scopes(reply: Sequence[Any]) -> list[tuple[str, float]]:
    """Without what no scope can be called: who may mark a scope due may write any bytes there."""
    named = [(name.decode("utf-8", "replace"), score) for name, score in scored(reply)]
    return [(name, score) for name, score in named if Scope.is_one(name)]


def newest(keys: Keys, most: int) -> Steps[tuple[int, list[str]]]:
    """How many resources workers have met, and the `most` of them they looked at last."""
    count, names = yield Batch(
        [("ZCARD", keys.resources), ("ZRANGE", keys.resources, 0, most - 1, "REV")], atomic=False
    )
    return int(count), [name.decode() for name in names]


def glances(keys: Keys, resources: Sequence[str], waited: Mapping[str, int], now: int) -> Steps[list[Glance]]:
    """One glance at each of some resources, four commands each; who holds what is not ours is left out."""
    found: list[Glance] = []
    for start in range(0, len(resources), _SLICE):
        some = yield from of_each(partial(_glances, keys, waited, now), resources[start : start + _SLICE])
        found += some.values()
    return found


def _glances(keys: Keys, waited: Mapping[str, int], now: int, names: Sequence[str]) -> Steps[dict[str, Glance]]:
    replies = yield Batch([command for name in names for command in _asked(keys, name, now)], atomic=False)
    fours = zip(names, replies[::4], replies[1::4], replies[2::4], replies[3::4], strict=True)
    return {name: _glance(name, waited.get(name, 0), now, said) for name, *said in fours}


def _asked(keys: Keys, resource: str, now: int) -> Iterable[tuple[Any, ...]]:
    of = keys.of(resource)
    yield ("HGET", of.tokens, "*")
    yield ("HGET", of.record(Scope(resource)), "chunk_tokens")
    yield ("HGET", keys.spent_by(spending.day_of(now), resource), "all|micros")
    yield ("ZRANGE", of.threads, 0, 0, "REV", "WITHSCORES")


def _glance(resource: str, lag: int, now: int, said: Sequence[Any]) -> Glance:
    raw, sealed, micros, last = said
    at = int(max(0, min(now, *(score for _, score in scored(last)), now))) if last else 0
    return Glance(resource, at, lag, int(raw or 0) + int(sealed or 0), int(micros or 0))

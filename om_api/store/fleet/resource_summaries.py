"""Reading of many resources at once: who is worth a look, how full they are. Bounded, in few round trips; changes nothing."""

from collections import Counter
from collections.abc import Iterator, Sequence
from functools import partial
from itertools import chain, islice
from math import inf
from typing import Any, NamedTuple

from om_api.domain.values import Scope
from om_api.store.driver.partitions import of_all, sure
from om_api.store.driver.replies import Pair, as_bytes, as_int, as_names, as_pairs, scored
from om_api.store.driver.steps import Batch, Steps, batch
from om_api.store.driver.tolerant_read import of_many
from om_api.store.fleet import resource_tiers, spending
from om_api.store.fleet.resource_tiers import Tiers
from om_api.store.fleet.spending import Most
from om_api.store.memory import due
from om_api.store.memory.keys import Keys, ResourceKeys

_COMMANDS = 10  # that tell of one resource
CHUNKS = 100  # of one scope, of which a look asks whether they are ready


class ResourceSummary(NamedTuple):
    """What one resource is like, and since when (Unix ms) a scope of it has been due, 0 = none is.

    `at` is when (Unix ms) the newest message was said that workers have met, `thread` where that was.

    Of a memory of many scopes the due indexes are not looked into for each: `lags` names those that have waited for longest.
    `used` counts against its budget of the day. What is not `listed` no worker has met, or it was let go; who `holds` nothing
    is a name.
    """

    resource: str
    listed: bool
    at: int
    thread: str
    due_since: int
    used: Most
    paused: bool
    tiers: Tiers

    @property
    def holds(self) -> bool:
        """Whether anything is kept of it but its name."""
        return (
            self.paused
            or bool(self.at or self.tiers.rejected)
            or any(level.unsealed or level.record.epoch for level in self.tiers.scopes)
        )


def lags(keys: Keys, now: int, most: int) -> Steps[dict[str, int]]:
    """For how many ms resources have been due by `now`, as far as the `most` longest due of each index tell."""
    found: dict[str, int] = {}
    for index in (keys.due_observe, keys.due_reflect):
        share = -(-most // keys.layout.now.count)
        words = ("(-inf", now, "BYSCORE", "LIMIT", 0, share, "WITHSCORES")
        parts = yield from of_all(index, lambda part: as_pairs("ZRANGE", part, *words))  # noqa: B023  asked at once
        for member, score in chain.from_iterable(parts):
            name = member.decode("utf-8", "replace")
            if not Scope.is_one(name):  # who may mark a scope due may write any bytes there
                continue
            resource = Scope.parse(name).resource
            found[resource] = max(found.get(resource, 0), now - _came_due(score, now))
    return found


def _came_due(score: float, now: int) -> int:
    """When a scope came due that stands at a score: an urgent one stands an hour ahead of that."""
    since = int(due.due_since(score))
    return since + (due.URGENT_MS if since <= now - due.URGENT_MS else 0)


def changed(keys: Keys, since: int, most: int) -> Steps[tuple[int, list[str]]]:
    """How many resources workers have met, and about `most` of those looked at from Unix ms `since` on, the newest first."""
    share = -(-most // keys.layout.now.count)
    words = ("+inf", since, "BYSCORE", "REV", "LIMIT", 0, share)
    parts = yield from of_all(
        keys.resources,
        lambda part: batch(as_int("ZCARD", part), as_names("ZRANGE", part, *words), atomic=False),
    )
    return sum(count for count, _ in parts), [name for _, names in parts for name in names]


def summaries(keys: Keys, resources: Sequence[str], now: int) -> Steps[dict[str, ResourceSummary]]:
    """A summary of each of some resources, ten commands each; who holds what is not ours is left out."""
    yield from sure(keys.layout)
    found = yield from of_many(partial(_summary, keys, now), resources)
    threaded = [name for name, one in found.items() if not one.tiers.scopes]
    tiers = yield from resource_tiers.tiers(keys, threaded)
    gone = set(threaded) - tiers.keys()
    found |= {name: found[name]._replace(tiers=each) for name, each in tiers.items()}
    return {name: one for name, one in found.items() if name not in gone}


def _summary(keys: Keys, now: int, resource: str) -> Batch[ResourceSummary]:
    """A summary; of a memory for each thread without its tiers. In one piece: of a hundred thousand each part would cost."""
    of, scope = keys.of(resource), Scope(resource)
    commands = (
        ("ZSCORE", keys.resources.of(resource), resource),
        ("ZRANGE", of.threads, 0, 0, "REV", "WITHSCORES"),
        ("ZSCORE", keys.due_observe.of(resource), resource),
        ("ZSCORE", keys.due_reflect.of(resource), resource),
        spending.counters(keys, spending.day_of(now), resource),
        ("HMGET", of.tokens, "*", "*paused"),
        ("GET", of.scope),
        *resource_tiers.commands(of, scope),
        ("LLEN", of.rejected),
    )
    return Batch(commands, lambda replies: _read(scope, now, replies), atomic=False)


def _read(scope: Scope, now: int, replies: Iterator[Any]) -> ResourceSummary:
    listed, last, observe, reflect, used, (unsealed, paused), word, record, chunks, rejected = islice(
        replies, _COMMANDS
    )
    level = resource_tiers.level(scope, int(unsealed or 0), record, chunks)
    return ResourceSummary(
        scope.resource,
        listed is not None,
        _heard(newest := scored(last), now),
        newest[0][0].decode("utf-8", "replace") if newest else "",
        _longest([float(score) for score in (observe, reflect) if score is not None], now),
        spending.as_most(used),
        paused is not None,
        Tiers(level.unsealed, rejected, () if word == b"thread" else (level,)),
    )


def _longest(scores: Sequence[float], now: int) -> int:
    since = [_came_due(score, now) for score in scores if -inf < score <= now]
    return min((each for each in since if each <= now), default=0)


def _heard(last: Sequence[Pair], now: int) -> int:
    return int(max(0, min(last[0][1], now))) if last else 0


def last_said(keys: Keys, found: Sequence[ResourceSummary], now: int) -> Steps[dict[str, int]]:
    """When (Unix ms) each of some resources was heard of last, raw messages of its newest thread included."""
    raw = yield from of_many(partial(_newest_raw, keys), [(one.resource, one.thread) for one in found if one.thread])
    return {resource: _heard(newest, now) for (resource, _), newest in raw.items()}


def _newest_raw(keys: Keys, whose: tuple[str, str]) -> Batch[list[Pair]]:
    resource, thread = whose
    return as_pairs("ZRANGE", keys.of(resource).messages(thread), -1, -1, "WITHSCORES")


def ready_chunks(keys: Keys, found: Sequence[ResourceSummary]) -> Steps[dict[str, int]]:
    """How many chunks of each of some resources are ready to be activated; resources without a chunk are left out."""
    scopes = [level.scope for one in found for level in one.tiers.scopes if level.chunks and level.scope]
    listed = yield from of_many(_chunk_names, [(keys.of(scope.resource), scope) for scope in scopes])
    chunks = [(of, scope.resource, name) for (of, scope), names in listed.items() for name in names]
    ready = yield from of_many(lambda chunk: as_bytes("HGET", chunk[0].chunk(chunk[2]), "state"), chunks)
    return Counter(name for (_, name, _), state in ready.items() if state == b"ready")


def _chunk_names(whose: tuple[ResourceKeys, Scope]) -> Batch[list[str]]:
    return as_names("ZRANGE", whose[0].chunks(whose[1]), 0, CHUNKS - 1)

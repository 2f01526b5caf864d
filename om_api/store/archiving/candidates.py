"""What of a resource's past is old enough to leave Redis: sources, what generations replaced, and generations of former times."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import NamedTuple

from om_api.archive.entries import Kind
from om_api.domain.values import Scope
from om_api.store.driver.replies import Pair, as_bytes, as_int, as_pairs
from om_api.store.driver.steps import Batch, Steps, batch, by_name
from om_api.store.memory.decoding import as_generation
from om_api.store.memory.keys import Keys, ResourceKeys, histories, tail_of

_BEFORE = 200  # generations that are in the history no more, whose replaced observations may still be there


class Movable(NamedTuple):
    """Something that may be archived: what the entry says of it, and the keys that it is about.

    `key` is the sorted set that holds it, `segment` the index of its words, `lister` what lists it; of a generation `n` its
    number. It is kept `until` (Unix ms), or as long as its key lives, whichever is later.
    """

    name: str
    kind: Kind
    thread: str
    at: int
    until: int
    key: str
    segment: str
    lister: str
    n: int | None = None


class DueItems(NamedTuple):
    """What may be archived now, the oldest first, and from when on (Unix ms) the next may; None: nobody can say yet."""

    ready: list[Movable]
    next_at: int | None


def past(
    keys: Keys, resource: str, scopes: Iterable[Scope], threads: Iterable[str], before: int, keep_s: int
) -> Steps[DueItems]:
    """What stands in Redis and is older than `before` (Unix ms), of all threads and memories of a resource.

    It is kept for `keep_s` from when it was made.
    """
    of = keys.of(resource)
    archived, sources = yield from batch(
        marks(of),
        by_name(threads, lambda name: as_pairs("ZRANGE", of.sources(name), 0, -1, "WITHSCORES")),
    )
    found = [*_sources(of, sources)]
    for scope in scopes:
        found += yield from _history(of, scope)
    standing = sorted((each for each in found if each.name not in archived), key=lambda each: each.at)
    standing = [each._replace(until=each.at + keep_s * 1_000) for each in standing]
    later = [each.at for each in standing if each.at > before]
    return DueItems([each for each in standing if each.at <= before], min(later, default=None))


def _sources(of: ResourceKeys, sources: Mapping[str, Sequence[Pair]]) -> Iterator[Movable]:
    for thread, listed in sources.items():
        for name, at in listed:
            yield source_of(of, name.decode(), thread, int(at))


def source_of(of: ResourceKeys, observation: str, thread: str, at: int) -> Movable:
    """The messages behind an observation that was activated at some time (Unix ms)."""
    key = of.source(observation)
    return Movable(tail_of(of, key), "messages", thread, at, 0, key, of.segment(observation), of.sources(thread))


def marks(of: ResourceKeys) -> Batch[dict[str, int]]:
    """What of a resource stands in the archive, and in which revision."""
    listed = as_pairs("ZRANGE", of.archived, 0, -1, "WITHSCORES")
    return listed.then(lambda pairs: {name.decode(): int(revision) for name, revision in pairs})


def _history(of: ResourceKeys, scope: Scope) -> Steps[list[Movable]]:
    """Generations but the one in force, and what each replaced. ZRANGE would bring those in the archive as well."""
    said, members = yield from batch(
        as_bytes("HGET", of.record(scope), "generation"),
        as_pairs("ZRANGEBYSCORE", of.reflections(scope), "-inf", "+inf", "WITHSCORES"),
    )
    in_force, made = int(said or 0), {int(n): as_generation(member).created_at for member, n in members}
    first = max(min(made, default=in_force) - _BEFORE, 1)
    sets = [(n, of.reflected(scope, n)) for n in histories(in_force) if n >= first]
    sizes = yield from by_name([n for n, _ in sets], lambda n: as_int("ZCOUNT", of.reflected(scope, n), "-inf", "+inf"))
    thread = scope.thread or ""
    found = [
        Movable(tail_of(of, name), "observations", thread, made.get(n, 0), 0, name, name, name)
        for n, name in sets
        if sizes[n]
    ]
    older = ((n, at) for n, at in made.items() if n < in_force)
    return found + [generation_of(of, scope, n, at) for n, at in older]


def generation_of(of: ResourceKeys, scope: Scope, n: int, at: int) -> Movable:
    """A generation that was made at some time (Unix ms)."""
    key = of.reflections(scope)
    return Movable(f"{tail_of(of, key)}|{n}", "generation", scope.thread or "", at, 0, key, key, of.record(scope), n)

"""Comparing Redis and the archive: what stands in neither, in both, or is named by nobody; and ridding the archive of that."""

from collections.abc import Iterable, Mapping, Sequence
from functools import partial
from typing import NamedTuple

from om_api.archive.protocol import Archive, Row
from om_api.store.archiving.candidates import marks
from om_api.store.archiving.holding import held
from om_api.store.driver.replies import as_int, server_ms, write
from om_api.store.driver.steps import Batch, FromArchive, Steps, by_name
from om_api.store.driver.tolerant_read import UNREADABLE
from om_api.store.memory.keys import Keys, ResourceKeys

_AT_ONCE = 500  # things in one batch


class HomesCompared(NamedTuple):
    """What of a resource stands in `neither` though Redis says it was archived, in `both`, and which rows are `unnamed`.

    `known`: whether Redis names anything of the resource there; where it does not, it may have lost what it named.
    """

    neither: list[str]
    both: list[str]
    unnamed: set[Row]
    known: bool


def compare(keys: Keys, resource: str) -> Steps[HomesCompared]:
    """Compare both sides of a resource. A row counts where it is the one that `archived` names, or the next one after it.

    What is archived, or comes back, meanwhile is in neither and in both for nobody. That a row is `unnamed` may be over by
    then, unless one holds the resource.
    """
    of = keys.of(resource)
    rows = yield from FromArchive(lambda archive: archive.names(resource))
    archived = yield from marks(of)
    if archived.items() - rows:
        rows |= yield from FromArchive(lambda archive: archive.names(resource))
    counting = _counting(archived, rows)
    named = counting.items()
    there = yield from _standing(of, sorted({name for name, _ in rows - named} | archived.keys()))
    unnamed = {row for row in rows - named if row[0] in archived or row[0] not in there}
    neither = sorted(name for name in archived if name not in counting and name not in there)
    both, named_now = there & archived.keys(), archived
    if both or (unnamed and not archived):
        named_now = yield from marks(of)
    return HomesCompared(neither, sorted(both & named_now.keys()), unnamed, bool(named_now))


def _counting(archived: Mapping[str, int], rows: Iterable[Row]) -> dict[str, int]:
    """Of what is archived the revision that counts, as far as there is one."""
    downwards = sorted(rows, reverse=True)
    return {name: revision for name, revision in downwards if name in archived and revision >= archived[name]}


def _standing(of: ResourceKeys, names: Sequence[str]) -> Steps[set[str]]:
    """Which things stand in Redis."""
    found: set[str] = set()
    for start in range(0, len(names), _AT_ONCE):
        sizes = yield from by_name(names[start : start + _AT_ONCE], lambda name: _size(of, name), atomic=False)
        found |= {name for name, size in sizes.items() if size}
    return found


def _size(of: ResourceKeys, name: str) -> Batch[int]:
    """How many members a thing has in Redis; ZCARD would ask the archive."""
    key, _, n = name.partition("|")
    return as_int("ZCOUNT", f"{of.base}:{key}", n or "-inf", n or "+inf")


class Tidied(NamedTuple):
    """What left the archive: what had `expired`, `unnamed` rows; and `after` which resource to go on, "" at the end.

    `unread` are resources whose keys cannot be read, each with the reason.
    """

    expired: int
    unnamed: int
    after: str
    unread: Mapping[str, str] = {}


def tidy(keys: Keys, after: str, most: int) -> Steps[Tidied]:
    """Rid the archive of what has expired, and of rows that nobody names of the next `most` resources.

    Of a resource of which Redis names nothing there nothing is removed: Redis may have lost it. Expired rows of a resource
    whose keys cannot be read are removed without them: else they would be the first ones in each round.
    """
    now = yield from server_ms()
    over = yield from FromArchive(lambda archive: archive.expired(now, _AT_ONCE))
    expired, unnamed, unread = 0, 0, dict[str, str]()
    for resource in sorted({resource for resource, *_ in over}):
        try:
            expired += yield from held(keys.of(resource), partial(_expire, keys, resource, now))
        except UNREADABLE as error:
            unread[resource] = str(error)[:300]
            gone = {(name, revision) for of, name, revision in over if of == resource}
            expired += yield from FromArchive(partial(_discard, resource, gone))
    resources = yield from FromArchive(lambda archive: archive.resources(after, most))
    for resource in resources:
        try:
            if (yield from _discardable(keys, resource)):
                unnamed += yield from held(keys.of(resource), partial(_discard_unnamed, keys, resource))
        except UNREADABLE as error:
            unread[resource] = str(error)[:300]
    return Tidied(expired, unnamed, resources[-1] if len(resources) == most else "", unread)


def _discard(resource: str, rows: set[Row], archive: Archive) -> int:
    return archive.discard(resource, rows)


def _expire(keys: Keys, resource: str, now: int, _holder: str) -> Steps[int]:
    """Remove what has expired: the rows, and from Redis the names of those that count."""
    of = keys.of(resource)
    over = yield from FromArchive(lambda archive: archive.expired(now, _AT_ONCE, resource))
    rows = yield from FromArchive(lambda archive: archive.names(resource))
    counting = _counting((yield from marks(of)), rows)
    gone = {(name, revision) for _, name, revision in over}
    if names := [name for name, revision in counting.items() if (name, revision) in gone]:
        yield from write(("ZREM", of.archived, *names))
    return (yield from FromArchive(lambda archive: archive.discard(resource, gone)))


def _discardable(keys: Keys, resource: str) -> Steps[set[Row]]:
    found = yield from compare(keys, resource)
    return found.unnamed if found.known else set()


class GivenUp(NamedTuple):
    """What is no longer: rows that were `removed` from the archive, and names of what it `lacks`."""

    removed: int
    lacks: int


def give_up(keys: Keys, resource: str) -> Steps[GivenUp]:
    """Have both homes agree on a resource: rows that Redis does not name go, and so do names without a row.

    What stands in Redis stays.
    """
    return (yield from held(keys.of(resource), partial(_give_up, keys, resource)))


def _give_up(keys: Keys, resource: str, _holder: str) -> Steps[GivenUp]:
    found = yield from compare(keys, resource)
    if found.neither:
        yield from write(("ZREM", keys.of(resource).archived, *found.neither))
    removed = yield from FromArchive(lambda archive: archive.discard(resource, found.unnamed))
    return GivenUp(removed, len(found.neither))


def _discard_unnamed(keys: Keys, resource: str, _holder: str) -> Steps[int]:
    rows = yield from _discardable(keys, resource)
    return (yield from FromArchive(lambda archive: archive.discard(resource, rows)))

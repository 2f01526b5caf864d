"""Comparing Redis and the archive: what stands in neither, in both, or is named by nobody; and ridding the archive of that."""

from collections import defaultdict
from collections.abc import Collection, Iterable, Sequence
from typing import NamedTuple

from om_api.store.archiving.candidates import marks
from om_api.store.driver.replies import as_int, command, server_ms, word, write
from om_api.store.driver.steps import Batch, FromArchive, Steps, batch, by_name
from om_api.store.memory.keys import Keys, ResourceKeys

_AT_ONCE = 500  # things in one batch
Row = tuple[str, int]  # of the archive: its name, and its revision


class HomesCompared(NamedTuple):
    """What of a resource stands in `neither` though Redis says it was archived, in `both`, and which rows are `unnamed`.

    `known`: whether Redis holds anything of the resource; where it does not, it may have lost that.
    """

    neither: list[str]
    both: list[str]
    unnamed: set[Row]
    known: bool


def compare(keys: Keys, resource: str) -> Steps[HomesCompared]:
    """Compare both sides of a resource. A row counts where it is the one that `archived` names, or the next one after it.

    Rows are read first, then Redis. Time 0: a row is there that Redis does not name. Time 1: what it was made of does not stand
    in Redis either, though it is dropped there only in the step that names the row: so nobody will ever name it.
    """
    of = keys.of(resource)
    rows = yield from FromArchive(lambda archive: archive.names(resource))
    archived, kind = yield from batch(marks(of), command(word, "TYPE", of.tokens))
    revisions = defaultdict[str, list[int]](list)
    for name, revision in rows:
        revisions[name].append(revision)
    counting = {name: _counting(mark, revisions.get(name, ())) for name, mark in archived.items()}
    named = {(name, revision) for name, revision in counting.items() if revision is not None}
    there = yield from _standing(of, sorted({name for name, _ in rows - named} | archived.keys()))
    unnamed = {row for row in rows - named if row[0] in counting or row[0] not in there}
    neither = sorted(name for name, revision in counting.items() if revision is None and name not in there)
    return HomesCompared(neither, sorted(there & archived.keys()), unnamed, kind != "none")


def _counting(mark: int, revisions: Iterable[int]) -> int | None:
    return min((revision for revision in revisions if revision >= mark), default=None)


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
    """What left the archive: what had `expired`, and rows that nobody `named`; `after` which resource to go on, "" at the end."""

    expired: int
    unnamed: int
    after: str


def tidy(keys: Keys, after: str, most: int) -> Steps[Tidied]:
    """Rid the archive of what has expired, and of rows that nobody names of the next `most` resources.

    Of a resource that Redis does not know at all nothing is removed: Redis may have lost it.
    """
    now = yield from server_ms()
    expired = yield from FromArchive(lambda archive: archive.expired(now, _AT_ONCE))
    for resource in {resource for resource, _, _ in expired}:
        yield from _remove(keys, resource, [(name, at) for of, name, at in expired if of == resource])
    resources = yield from FromArchive(lambda archive: archive.resources(after, most))
    unnamed = 0
    for resource in resources:
        found = yield from compare(keys, resource)
        if found.known and found.unnamed:
            unnamed += yield from _discard(resource, found.unnamed)
    return Tidied(len(expired), unnamed, resources[-1] if len(resources) == most else "")


def _remove(keys: Keys, resource: str, rows: Collection[Row]) -> Steps[None]:
    of = keys.of(resource)
    yield from write(("ZREM", of.archived, *{name for name, _ in rows}))
    yield from _discard(resource, rows)


def _discard(resource: str, rows: Collection[Row]) -> Steps[int]:
    return (yield from FromArchive(lambda archive: archive.discard(resource, rows)))

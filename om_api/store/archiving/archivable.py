"""Which resources may have something to archive, and when: one index for all, so that nobody looks at those that have not."""

from collections.abc import Iterable, Mapping
from contextlib import suppress

import msgspec

from om_api.domain.learned import learned
from om_api.domain.values import is_id
from om_api.store.driver.replies import as_bool, as_bytes, as_int, as_list, as_pairs, server_ms, write
from om_api.store.driver.steps import Batch, Steps, batch
from om_api.store.memory.keys import Keys

LONGEST_MS = 86_400_000  # between two looks, because archive.after may have changed
_KEPT_MS = 7 * 86_400_000  # that a fault is told
_PAGES = 100  # of names that are no ids, which one call removes


@learned
class ArchiveFault(msgspec.Struct, frozen=True):
    """Since when (server ms) nothing can be archived, and why."""

    since: int
    why: str


class ArchiveBacklog(msgspec.Struct, frozen=True):
    """How far archiving is behind: resources that are `due`, for how long (ms) the first one has been, what is wrong."""

    due: int
    behind_ms: int
    fault: ArchiveFault | None


def expect(keys: Keys, resources: Iterable[str], at: int) -> Steps[None]:
    """Schedule a look at resources at a time (server ms), unless one is scheduled.

    Every writer may add a time to the index. One that is too far ahead is brought back.
    """
    if names := list(resources):
        yield from write(
            ("ZADD", keys.archivable, "NX", *(word for name in names for word in (at, name))),
            ("ZADD", keys.archivable, "XX", "LT", *(word for name in names for word in (at + LONGEST_MS, name))),
        )


def soon(keys: Keys, resource: str) -> Steps[None]:
    """Have a resource looked at in the next round."""
    now = yield from server_ms()
    yield from write(("ZADD", keys.archivable, now, resource))


def due(keys: Keys, now: int, most: int) -> Steps[list[str]]:
    """Those that are due, first the longest. Every writer may add a name to the index: one that is no id is removed."""
    for _ in range(_PAGES):
        names = yield from as_list("ZRANGE", keys.archivable, "-inf", now, "BYSCORE", "LIMIT", 0, most)
        found = [text for name in names if is_id(text := name.decode("utf-8", "replace"))]
        if wrong := [name for name in names if name.decode("utf-8", "replace") not in found]:
            yield from write(("ZREM", keys.archivable, *wrong))
        if found or not wrong:
            return found
    return []


def looked(keys: Keys, following: Mapping[str, int | None]) -> Steps[None]:
    """Say when to look at resources again (server ms); None: never, until the sweep meets one again."""
    later = [word for name, at in following.items() if at is not None for word in (at, name)]
    never = [name for name, at in following.items() if at is None]
    yield from write(
        *([("ZADD", keys.archivable, *later)] if later else []), *([("ZREM", keys.archivable, *never)] if never else [])
    )


def is_begun(keys: Keys) -> Batch[bool]:
    """Whether an archive was laid out: where its database is missing now, another one must not take its place."""
    return as_bool("EXISTS", keys.archive)


def begun(keys: Keys) -> Steps[None]:
    """Note that there is one."""
    yield from write(("SET", keys.archive, 1))


def failed(keys: Keys, why: str) -> Steps[None]:
    """Note that nothing can be archived, since now if it was not so before."""
    now = yield from server_ms()
    before = yield from fault(keys)
    since = before.since if before else now
    said = msgspec.json.encode(ArchiveFault(since, why[:500]))
    yield from write(("SET", keys.archive_fault, said, "PX", _KEPT_MS))


def recovered(keys: Keys) -> Steps[None]:
    """Note that it can."""
    yield from write(("UNLINK", keys.archive_fault))


def fault(keys: Keys) -> Steps[ArchiveFault | None]:
    """Since when nothing can be archived; None while it can."""
    said = yield from as_bytes("GET", keys.archive_fault)
    with suppress(msgspec.DecodeError):
        return msgspec.json.decode(said, type=ArchiveFault) if said else None
    return None


def backlog(keys: Keys) -> Steps[ArchiveBacklog]:
    """How far archiving is behind."""
    now = yield from server_ms()
    count, first = yield from batch(
        as_int("ZCOUNT", keys.archivable, "-inf", now),
        as_pairs("ZRANGE", keys.archivable, "(-inf", now, "BYSCORE", "LIMIT", 0, 1, "WITHSCORES"),  # -inf is no time
    )
    behind = max(0, now - int(first[0][1])) if first else 0
    return ArchiveBacklog(count, behind, (yield from fault(keys)))

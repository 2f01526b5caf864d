"""Comparing what Redis names in the archive with what stands there: P12, for `verify`."""

from collections.abc import Collection, Iterator

from om_api.domain.errors import ArchiveError
from om_api.store.archiving.comparing import HomesCompared, compare
from om_api.store.audit.invariants import Breach
from om_api.store.driver.replies import as_int
from om_api.store.driver.steps import FromArchive, HasArchive, Steps
from om_api.store.memory.keys import Keys, ResourceKeys

_AT_ONCE = 1_000  # resources of the archive in one answer
_NEITHER = (
    "was archived, and stands in neither Redis nor the archive: bring a newer backup of that, or give it up by om archive "
    "discard"
)
_BOTH = "is said to be archived, and stands in Redis too: whoever reads it takes what stands in Redis"
_UNKNOWN = (
    "is in the archive, and Redis names nothing of it: restore Redis, or have om archive discard remove it, if it is not to "
    "come back"
)


def breaches(keys: Keys, resource: str) -> Steps[list[Breach]]:
    """What of a resource stands in neither home, or in both."""
    of = keys.of(resource)
    named = yield from as_int("ZCARD", of.archived)
    if not named and not (yield from HasArchive()):
        return []
    try:
        return list(_told(of, (yield from compare(keys, resource))))
    except ArchiveError as error:
        return [unread(of, error)] if named else []


def _told(of: ResourceKeys, found: HomesCompared) -> Iterator[Breach]:
    for name in found.neither:
        yield Breach(f"{of.base}:{name}", _NEITHER)
    for name in found.both:
        yield Breach(f"{of.base}:{name}", _BOTH)
    if found.unnamed and not found.known:
        yield Breach(of.archived, _UNKNOWN)


def unread(of: ResourceKeys, error: ArchiveError) -> Breach:
    """What to say of a resource of which a part was archived that cannot be read."""
    return Breach(of.archived, f"what it names cannot be read: {error}")


def unknown(keys: Keys, met: Collection[str]) -> Steps[list[Breach]]:
    """Resources of which something is archived, and that are not among those that Redis was found to hold."""
    found, after = list[Breach](), ""
    try:
        while (yield from HasArchive()):
            some = yield from FromArchive(lambda archive, after=after: archive.resources(after, _AT_ONCE))  # type: ignore[misc]
            found += [Breach(keys.of(name).archived, _UNKNOWN) for name in some if name not in met]
            if len(some) < _AT_ONCE:
                break
            after = some[-1]
    except ArchiveError:
        return []  # said of each resource that needs it
    return found

"""Changing what was archived: it comes back into Redis, where scripts change it, and what is left goes to the archive again.

Time 0: sources come back. Time 1: a message is erased. Time 2: what is left of them goes to the archive again, and what stood
there before goes. Only then is it answered. Whoever dies on the way repeats it: rows that Redis does not name are found there.

Time 0: two owners read what is archived. Time 1: one brings it back, erases, and has the rest archived again, at revisions that
the other one never heard of, and cannot bring back. So bring_back looks again until nothing is archived that was to come back,
and whoever removes looks once more when it is done, and repeats it.
"""

from collections.abc import Callable, Iterable, Mapping
from functools import partial
from typing import Any, TypeVar

from om_api.archive.entries import Entry
from om_api.domain.errors import ArchiveError, InvalidInputError, StoreError
from om_api.domain.values import Outcome, Scope
from om_api.store.archiving import archivable
from om_api.store.archiving.candidates import Movable, generation_of, marks, source_of
from om_api.store.archiving.holding import held
from om_api.store.archiving.moving import Planned, move
from om_api.store.driver.archived_keys import lacks, read_entries, slices
from om_api.store.driver.replies import as_int, number
from om_api.store.driver.steps import FromArchive, HasArchive, Steps, Verb, exact
from om_api.store.memory import clear
from om_api.store.memory.clear import Cleared
from om_api.store.memory.keys import Keys, ResourceKeys

T = TypeVar("T")
_TRIES = 3
_LOOKS = 5  # at what is archived, while others archive it again
_SOME = 50  # entries brought back by one script
_UNKNOWN = (
    "a part of {resource} was archived, and this process has no archive configured: set archive.url (OM_ARCHIVE__URL) to that of "
    "the workers, then repeat; nothing was changed"
)

_NOTHING = "nothing of {resource} was changed: repeat when the archive answers"
_HALF = "{resource} was changed in Redis, and the archive still holds what it did before: repeat the call"


def everything(_: str) -> bool:
    """All that is archived."""
    return True


def is_history(name: str) -> bool:
    """What generations replaced, and those of former times."""
    return name.startswith("reflect")


def sources_of(observations: Iterable[str]) -> Callable[[str], bool]:
    """The messages behind some observations."""
    return {f"source:{name}" for name in observations}.__contains__


def changed(
    keys: Keys,
    resource: str,
    language: str,
    change: Callable[[], Steps[T]],
    wanted: Callable[[str], bool],
    *,
    removes: bool = True,
) -> Steps[T]:
    """Make a change to a resource of which a part may be archived: entries whose name is `wanted` come back before it.

    What is left of them is indexed in `language`. What the change `removes` is in the archive no longer when this is answered;
    rows of what only moved are left to the next round of archiving: a server that loses its last second still names them.

    Raises ArchiveError where the archive does not answer: before the change nothing was changed; after it repeating ends it.
    """
    if not (yield from _archive_for(keys, resource)):
        return (yield from change())
    work = partial(_changed, keys, resource, language, change, wanted, removes=removes)
    return (yield from held(keys.of(resource), work))


def _changed(
    keys: Keys,
    resource: str,
    language: str,
    change: Callable[[], Steps[T]],
    wanted: Callable[[str], bool],
    holder: str,
    *,
    removes: bool,
) -> Steps[T]:
    done: list[T] = []
    for tried in range(_TRIES):
        bringing = bring_back(keys, resource, wanted)
        yield from bringing if done else _telling(_NOTHING.format(resource=resource), bringing, stored=False)
        try:
            did = yield from change()
        except InvalidInputError:  # as of what was removed before, by a call that did not come this far
            if not done:
                yield from settle(keys, resource, language, removes=removes, holder=holder)
                raise
        except StoreError:  # it may have been archived again meanwhile
            if tried == _TRIES - 1 or not (yield from _is_archived(keys, resource, wanted)):
                raise
            continue
        else:
            if done == [Outcome.SUPERSEDED]:  # nothing was changed, because some of it had been archived again
                done.clear()
            done.append(did)
        if not (removes and (yield from _is_archived(keys, resource, wanted))):
            settling = settle(keys, resource, language, removes=removes, holder=holder)
            yield from _telling(_HALF.format(resource=resource), settling, stored=None)
            return done[0]
    raise StoreError(f"{resource} kept changing while it was being changed: repeat.", stored=False)


def renamed(keys: Keys, resource: str, change: Callable[[], Steps[T]]) -> Steps[T]:
    """Make a change by which all that is archived of a resource may be another thread's: it comes back before it.

    It goes to the archive again in a next round, as it is called then; till then the rows of what came back are nobody's, and
    those that are left over are found there. Raises ArchiveError where the archive does not answer, and nothing was changed.
    """
    if not (yield from _archive_for(keys, resource)):
        return (yield from change())

    def work(_holder: str) -> Steps[T]:
        yield from _telling(_NOTHING.format(resource=resource), bring_back(keys, resource, everything), stored=False)
        try:
            done = yield from change()
        except InvalidInputError:
            yield from archivable.soon(keys, resource)
            raise
        yield from archivable.soon(keys, resource)
        return done

    return (yield from held(keys.of(resource), work))


def scrubbed(resource: str) -> Steps[None]:
    """Have an archive's file forget what a change removed; raises ArchiveError where repeating the change ends it."""
    if (yield from HasArchive()):
        scrubbing = iter(FromArchive(lambda archive: archive.scrub()))
        yield from _telling(_HALF.format(resource=resource), scrubbing, stored=None)


def _telling(says: str, steps: Steps[T], *, stored: bool | None) -> Steps[T]:
    """Do something in the archive, and say how Redis stands where it does not answer."""
    try:
        return (yield from steps)
    except ArchiveError as error:
        raise ArchiveError(f"{says}. {error}", stored=stored) from error


def _is_archived(keys: Keys, resource: str, wanted: Callable[[str], bool]) -> Steps[bool]:
    return any(map(wanted, (yield from marks(keys.of(resource)))))


def cleared(keys: Keys, resource: str, *, retention: bool = False) -> Steps[Cleared]:
    """Remove a resource's memory, in Redis and in the archive; raises ArchiveError as `changed` does. See clear.clear."""
    if not (yield from _archive_for(keys, resource)):
        return (yield from clear.clear(keys, resource, retention=retention))
    return (yield from held(keys.of(resource), partial(_cleared, keys, resource, retention=retention)))


def _cleared(keys: Keys, resource: str, _holder: str, *, retention: bool) -> Steps[Cleared]:
    done = yield from clear.clear(keys, resource, retention=retention)
    if done.outcome is Outcome.CLEARED:
        removing = iter(FromArchive(lambda archive: archive.remove(resource)))
        yield from _telling(_HALF.format(resource=resource), removing, stored=None)
    return done


def _archive_for(keys: Keys, resource: str) -> Steps[bool]:
    """Whether there is an archive to heed; raises ArchiveError where there must be one that this process does not know."""
    if (yield from HasArchive()):
        return True
    if (yield from archivable.is_begun(keys)) or (yield from as_int("ZCARD", keys.of(resource).archived)):
        raise ArchiveError(_UNKNOWN.format(resource=resource))
    return False


def bring_back(keys: Keys, resource: str, wanted: Callable[[str], bool]) -> Steps[int]:
    """Put what is archived of a resource back into Redis, as far as it is wanted; how many things that were."""
    of, brought, tried = keys.of(resource), 0, 0
    while named := {name: mark for name, mark in (yield from marks(of)).items() if wanted(name)}:
        tried += 1
        for some in slices(named, _SOME):
            entries = yield from FromArchive(partial(read_entries, resource, some))
            if (lost := some.keys() - entries.keys()) and tried == _LOOKS:
                raise lacks(resource, lost)
            there = {name: mark for name, mark in some.items() if name in entries}
            brought += (yield from Verb("bring_back", *_back(of, there, entries), number)) if there else 0
        if tried == _LOOKS:
            break
    return brought


def _back(of: ResourceKeys, named: Mapping[str, int], entries: Mapping[str, Entry]) -> tuple[list[str], list[Any]]:
    names, args = [of.archived], list[Any]()
    for name, mark in named.items():
        entry, key = entries[name], f"{of.base}:{name.partition('|')[0]}"
        stays = entry.kind == "generation"
        names += [key, key.replace(of.source(""), of.segment(""), 1)]
        args += [name, mark, "" if stays else entry.expires_at, entry.segment, len(entry.members)]
        args += [word for member, score in entry.members for word in (exact(score), member)]
    return names, args


def settle(keys: Keys, resource: str, language: str, *, removes: bool, holder: str) -> Steps[None]:
    """Have what came back go to the archive again as it is now; where something was removed the archive holds nothing else.

    To be done by who holds the resource, whose name is `holder`.
    Time 0: a worker reads a source. Time 1: a message of it is erased, and we come here. Time 2: the fence is another, so that
    what the worker read is not written any more; what it wrote before is no row that `archived` names, and goes.
    """
    of = keys.of(resource)
    if removes:
        yield from FromArchive(lambda archive: archive.fence(resource))
    unnamed = yield from _unnamed(of, resource)
    newest = dict(sorted(unnamed))
    if not newest:
        return
    entries = yield from FromArchive(lambda archive: archive.read(resource, newest))
    came = [_candidate(of, entry) for entry in entries.values()]
    yield from move(keys, [Planned(resource, came, language, holder=holder)])
    yield from archivable.soon(keys, resource)  # another one may hold it too
    if removes:
        rest = yield from _unnamed(of, resource)
        yield from FromArchive(lambda archive: archive.discard(resource, rest))


def _unnamed(of: ResourceKeys, resource: str) -> Steps[set[tuple[str, int]]]:
    """The rows that `archived` does not name, or names in another revision."""
    rows = yield from FromArchive(lambda archive: archive.names(resource))
    return rows - (yield from marks(of)).items()


def _candidate(of: ResourceKeys, entry: Entry) -> Movable:
    name, key = entry.name, f"{of.base}:{entry.name}"
    if entry.kind == "messages":
        found = source_of(of, name.partition(":")[2], entry.thread, entry.at)
    elif entry.kind == "generation":
        found = generation_of(of, Scope("-", entry.thread or None), int(name.rpartition("|")[2]), entry.at)
    else:
        found = Movable(name, entry.kind, entry.thread, entry.at, 0, key, key, key)
    return found._replace(until=entry.expires_at)

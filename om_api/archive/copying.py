"""Copying an archive into another one, such as from SQLite to Postgres: while it is used, and again where it stopped."""

from collections.abc import Callable, Iterator, Sequence
from collections.abc import Set as AbstractSet
from typing import Final

from om_api.archive.entries import Entry
from om_api.archive.protocol import Archive, Row
from om_api.domain.errors import ArchiveError

_AT_ONCE: Final = 200  # entries of a transaction
_RESOURCES: Final = 1_000
Progress = Callable[[int, int], None]  # entries that are there by now, of how many


def copy(source: Archive, target: Archive, progress: Progress = lambda _done, _all: None) -> int:
    """Copy all that the target has not; returns how many entries that were. Both must be laid out.

    Every row keeps its revision, so that what Redis has noted of it holds for the target too, and none that is there already
    is overwritten: the target is an empty archive, or one that was only copied to. What was written to the source meanwhile
    may be missing: copy again, until nothing is. Raises ArchiveError where a row of the source did not arrive.
    """
    every, done, copied = source.figures().entries, 0, 0
    for resource in _resources(source):
        fences, wanted = source.fences([resource]), source.names(resource)
        lacking = _lacking(target, resource, wanted)
        for at in range(0, max(len(lacking), 1), _AT_ONCE):
            entries = _rows(source, resource, lacking[at : at + _AT_ONCE])
            target.take_over(entries, fences)
            copied += len(entries)
        _compare(source, target, resource, wanted)
        done += len(wanted)
        progress(done, max(done, every))
    return copied


def _resources(source: Archive) -> Iterator[str]:
    after = ""
    while some := source.resources(after, _RESOURCES):
        yield from some
        after = some[-1]


def _rows(source: Archive, resource: str, rows: Sequence[Row]) -> list[Entry]:
    """Each read by itself, for a name may have several; for one that is gone by now the next above came, which has a row too."""
    found = [source.read(resource, {name: revision}).get(name) for name, revision in rows]
    return [entry for entry, (_, revision) in zip(found, rows, strict=True) if entry and entry.revision == revision]


def _lacking(target: Archive, resource: str, wanted: AbstractSet[Row]) -> list[Row]:
    """The rows that the target has not."""
    return sorted(wanted - target.names(resource))


def _compare(source: Archive, target: Archive, resource: str, wanted: AbstractSet[Row]) -> None:
    """Raise ArchiveError for what did not arrive, unless the source has let go of it since."""
    if not (left := _lacking(target, resource, wanted)):
        return
    if lost := source.names(resource).intersection(left):
        raise ArchiveError(
            f"{len(lost)} rows of {resource} did not arrive in the target, such as {min(lost)[0]}: copy again"
        )

"""What an archive does for its callers, whatever keeps it. Calls block, any thread may make them, and they raise ArchiveError."""

from collections.abc import Collection, Mapping, Sequence
from typing import Protocol

from om_api.archive.entries import Entry, Figures, Head

Named = tuple[str, str]  # an entry by its resource and its name
Row = tuple[str, int]  # of a resource: an entry by its name, and a revision of it


class Archive(Protocol):
    """Rows by resource, name and revision, none of which is ever overwritten: other content of a name is its next revision."""

    def prepare(self) -> None:
        """Lay an empty database out, also while other processes do; raises ArchiveError for one of another version."""

    def upgrade(self) -> None:
        """Bring the schema to this version."""

    def check(self) -> None:
        """Raise ArchiveError when nobody can be reached, or the schema is not this version's; cheap after the first time."""

    def fences(self, resources: Collection[str]) -> dict[str, int]:
        """How often something of each resource was removed."""

    def write(self, entries: Sequence[Entry], fences: Mapping[str, int]) -> dict[Named, int]:
        """Write entries in one transaction; returns the revision of each that is kept now.

        What equals the highest revision of its name keeps that, until when it says now; other content becomes a row of its own,
        of a higher revision, and the older row stays until it is discarded. No revision is ever given again.

        Time 0: a worker reads fence 3 and copies. Time 1: an owner clears, which deletes and makes it 4. Time 2: the worker
        writes, and what is of this resource is left out: nothing removed comes back.
        """

    def take_over(self, entries: Sequence[Entry], fences: Mapping[str, int]) -> None:
        """Write entries of another archive at the revisions, and not below the fences, that they have there."""

    def read(self, resource: str, marks: Mapping[str, int]) -> dict[str, Entry]:
        """Whole entries by name, each of exactly its revision or else of the next above; those that are missing are left out."""

    def segments(self, resource: str, marks: Mapping[str, int]) -> dict[str, bytes]:
        """The segments of such entries, without their bodies."""

    def heads(self, resource: str) -> list[Head]:
        """What is known of the highest revisions of a resource's messages without their bodies, from the oldest on."""

    def search(self, resource: str, terms: Collection[str], periods: Sequence[tuple[int, int]]) -> set[str]:
        """Names of the messages that have any of these terms, or may be of a period [from, to): some too many, never one less.

        Any row of a name may be what is found, so an older one too that was not discarded yet.
        """

    def holding(self, resource: str, message_id: str, thread: str | None) -> set[str]:
        """Names of the messages among which may be the one of this id: some too many, never one less."""

    def names(self, resource: str) -> set[Row]:
        """All rows of a resource: entries with their revisions."""

    def fence(self, resource: str) -> None:
        """Raise the fence of a resource: what was read of it before is written no more."""

    def remove(self, resource: str) -> int:
        """Delete all of a resource and raise its fence, even where nothing was there; returns how many rows."""

    def discard(self, resource: str, rows: Collection[Row]) -> int:
        """Delete rows that nobody names, nor is about to, and raise the fence; returns how many."""

    def scrub(self) -> None:
        """Have nothing of what was deleted stand in a file's free room, index or log; raises ArchiveError while others read it.

        A server of databases is left to do that by itself.
        """

    def expired(self, now_ms: int, most: int, resource: str | None = None) -> list[tuple[str, str, int]]:
        """Entries whose time is over, of all or of one resource, those first that were to go first."""

    def resources(self, after: str, most: int) -> list[str]:
        """The next resources of which anything is archived, in order."""

    def figures(self) -> Figures:
        """How much is archived."""

    def close(self) -> None:
        """Close this process' connections; the next call opens new ones."""

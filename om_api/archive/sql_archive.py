"""The archive in SQL: in a file of SQLite's, or in Postgres."""

import os
import time
from collections.abc import Collection, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, contextmanager
from typing import Any, Final

from sqlalchemy import Connection, Engine

from om_api.archive import databases, layout, reading, writing
from om_api.archive.entries import Entry, Figures, Head
from om_api.archive.full_text import merge_words
from om_api.archive.protocol import Archive, Named, Row
from om_api.archive.rows import row_of
from om_api.archive.schema import SQLITE
from om_api.archive.sql_errors import told
from om_api.domain.errors import ArchiveError

_UPGRADE_S: Final = 3_600.0  # a version may rewrite a whole table


class SqlArchive(Archive):
    """Entries in the tables that docs/archive.md describes. Connections are made at first use, and anew after a fork."""

    def __init__(self, url: str, timeout_s: float = 5.0) -> None:
        self._url, self._timeout_s = databases.address(url), timeout_s
        self._where = databases.shown(self._url)
        # by process, for a fork's parent goes on using what it has open, and by the file that stands there
        self._engines: dict[tuple[int, Any], Engine] = {}
        self._is_checked = False

    def prepare(self) -> None:
        """Lay an empty database out."""
        with told(self._where):
            databases.make_file(self._url, self._timeout_s)
        with self._begun(writes=True) as connection:
            layout.prepare(connection)

    def upgrade(self) -> None:
        """Bring the schema to this version, however long that takes."""
        with told(self._where):
            databases.make_file(self._url, self._timeout_s)
            patient = databases.engine(self._url, _UPGRADE_S)
            try:
                with databases.writing(patient).begin() as connection:
                    layout.upgrade(connection)
            finally:
                patient.dispose()

    def check(self) -> None:
        """Raise ArchiveError where the archive cannot be used."""
        if not self._is_checked:
            with self._begun() as connection:
                layout.check(connection)
            self._is_checked = True

    def fences(self, resources: Collection[str]) -> dict[str, int]:
        """How often something of each was removed."""
        with self._reading() as connection:
            return reading.fences(connection, resources)

    def write(self, entries: Sequence[Entry], fences: Mapping[str, int]) -> dict[Named, int]:
        """Write entries in one transaction, but what was removed since its fence was read; equal content keeps its revision."""
        rows = [row_of(entry, _now_ms()) for entry in entries]
        with self._writing() as connection:
            return writing.write(connection, rows, fences)

    def take_over(self, entries: Sequence[Entry], fences: Mapping[str, int]) -> None:
        """Write rows of another archive, at their revisions and not below its fences; a row that is here already stays."""
        rows = [row_of(entry, _now_ms()) for entry in entries]
        with self._writing() as connection:
            writing.reach_fences(connection, fences)
            writing.take_over(connection, rows)

    def read(self, resource: str, marks: Mapping[str, int]) -> dict[str, Entry]:
        """Whole entries by name."""
        with self._reading() as connection:
            return reading.read(connection, resource, marks)

    def segments(self, resource: str, marks: Mapping[str, int]) -> dict[str, bytes]:
        """Segments by name."""
        with self._reading() as connection:
            return reading.segments(connection, resource, marks)

    def heads(self, resource: str) -> list[Head]:
        """What is known of messages without their bodies."""
        with self._reading() as connection:
            return reading.heads(connection, resource)

    def search(self, resource: str, terms: Collection[str], periods: Sequence[tuple[int, int]]) -> set[str]:
        """Names of messages by their terms, and by when they were said."""
        with self._reading() as connection:
            return reading.search(connection, resource, terms, periods)

    def holding(self, resource: str, message_id: str, thread: str | None) -> set[str]:
        """Names of messages by the id of one."""
        with self._reading() as connection:
            return reading.holding(connection, resource, message_id, thread)

    def names(self, resource: str) -> set[Row]:
        """Every row of a resource."""
        with self._reading() as connection:
            return reading.names(connection, resource)

    def fence(self, resource: str) -> None:
        """Raise the fence of a resource."""
        with self._writing() as connection:
            writing.fence(connection, resource)

    def remove(self, resource: str) -> int:
        """Delete a resource's rows for good."""
        with self._writing() as connection:
            return writing.remove(connection, resource)

    def discard(self, resource: str, rows: Collection[Row]) -> int:
        """Delete rows that nobody names."""
        with self._writing() as connection:
            return writing.discard(connection, resource, rows)

    def scrub(self) -> None:
        """Have nothing of what was deleted stand in SQLite's files."""
        if self._url.drivername != SQLITE:
            return
        with self._writing() as connection:
            merge_words(connection)
        with told(self._where):
            is_empty = databases.empty_log(self._url, self._timeout_s)
        if not is_empty:
            raise ArchiveError(
                f"the archive {self._where}: others read it, so its log holds what was deleted: try again"
            )

    def expired(self, now_ms: int, most: int, resource: str | None = None) -> list[tuple[str, str, int]]:
        """What is to go."""
        with self._reading() as connection:
            return reading.expired(connection, now_ms, most, resource)

    def resources(self, after: str, most: int) -> list[str]:
        """The next resources."""
        with self._reading() as connection:
            return reading.resources(connection, after, most)

    def figures(self) -> Figures:
        """How much is archived."""
        with self._reading() as connection:
            return reading.figures(connection)

    def close(self) -> None:
        """Close this process' connections."""
        for key in [key for key in list(self._engines) if key[0] == os.getpid()]:
            if (own := self._engines.pop(key, None)) is not None:
                own.dispose()

    def _reading(self) -> AbstractContextManager[Connection]:
        self.check()
        return self._begun()

    def _writing(self) -> AbstractContextManager[Connection]:
        self.check()
        return self._begun(writes=True)

    @contextmanager
    def _begun(self, *, writes: bool = False) -> Iterator[Connection]:
        """A transaction; after an error the schema is checked again, for another server may be there by then."""
        try:
            with told(self._where):
                own = self._engine()
                with (databases.writing(own) if writes else own).begin() as connection:
                    yield connection
        except ArchiveError:
            self._is_checked = False
            raise

    def _engine(self) -> Engine:
        """Connections to what stands there now: what is written to a file that was taken away is lost."""
        key = (os.getpid(), databases.file_at(self._url))
        if key not in self._engines:
            self.close()
            self._is_checked = False
        return self._engines.get(key) or self._engines.setdefault(key, databases.engine(self._url, self._timeout_s))


def _now_ms() -> int:
    return int(time.time() * 1000)

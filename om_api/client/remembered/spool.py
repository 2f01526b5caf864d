"""A spool: a file of messages that wait for the store, so that they survive the end of the process."""

import base64
import sqlite3
import threading
from collections.abc import Callable, Iterable, Iterator, Mapping
from pathlib import Path

import msgspec

from om_api.domain.errors import InvalidInputError, SettingsError
from om_api.domain.wire import EncodedMessage, parse_member
from om_api.settings.logs import library_log

_TABLE = """CREATE TABLE IF NOT EXISTS held (row INTEGER PRIMARY KEY AUTOINCREMENT, store TEXT NOT NULL, resource TEXT NOT NULL,
thread TEXT NOT NULL, at INTEGER NOT NULL, member BLOB NOT NULL, sealed BLOB NOT NULL, memory TEXT)"""
_PATIENCE_S = 5.0
Sealed = Mapping[str, bytes]  # encrypted values by their placeholders


class Spool:
    """Messages in a SQLite file as they will be stored: redacted, with their encrypted values. Only its owner may read it.

    Several processes may share the file. Each sends all rows of its store, and removes a row once it was stored. A row that two
    of them send is stored once, because its message has an id. A row that cannot be read stays, and is logged.
    Raises SettingsError for a file that cannot be opened.
    """

    def __init__(self, path: str | Path, store: str) -> None:
        self._store, self._guard = store, threading.Lock()
        self._unreadable: set[int] = set()
        try:
            Path(path).touch(mode=0o600)
            self._database = sqlite3.connect(path, _PATIENCE_S, isolation_level=None, check_same_thread=False)
            self._database.execute("PRAGMA journal_mode=WAL")
            self._database.execute("PRAGMA synchronous=FULL")
            self._database.execute(_TABLE)
        except (sqlite3.Error, OSError) as error:
            raise SettingsError(
                f"cannot open the spool {path}: {error}; name a file that this process may write"
            ) from None

    def add(self, messages: Iterable[EncodedMessage], sealed_in: Callable[[str, bytes], Sealed]) -> list[int]:
        """Write messages and return their rows; [] if that fails, which is logged: they wait in memory only."""
        given, rows = [*messages], list[int]()
        insert = "INSERT INTO held (store, resource, thread, at, member, sealed, memory) VALUES (?, ?, ?, ?, ?, ?, ?)"
        try:
            with self._guard, self._database:
                self._database.execute("BEGIN IMMEDIATE")
                for each in given:
                    message, member = each.message, each.member
                    place = message.resource_id, message.thread_id
                    sealed = _encoded(sealed_in(message.resource_id, member))
                    done = self._database.execute(
                        insert, (self._store, *place, message.at, member, sealed, each.memory)
                    )
                    rows.append(done.lastrowid or 0)
        except sqlite3.Error as error:
            library_log().error("spool_failed", error=str(error), messages=len(given))
            return []
        return rows

    def read(self, most: int) -> Iterator[tuple[int, EncodedMessage, Sealed]]:
        """The oldest rows of the store, with their messages and encrypted values."""
        found = (
            "SELECT row, resource, thread, at, member, sealed, memory FROM held WHERE store = ? ORDER BY row LIMIT ?"
        )
        try:
            with self._guard:
                rows = self._database.execute(found, (self._store, most + len(self._unreadable))).fetchall()
        except sqlite3.Error as error:
            library_log().error("spool_failed", error=str(error))
            return
        for row, resource, thread, at, member, sealed, memory in rows:
            try:
                message = parse_member(member, thread, resource, at)
                values = {name: base64.b64decode(text) for name, text in msgspec.json.decode(sealed).items()}
            except (InvalidInputError, ValueError, AttributeError, TypeError) as error:
                if row not in self._unreadable:
                    library_log().error("spool_row_unreadable", row=row, error=type(error).__name__)
                self._unreadable.add(row)
            else:
                yield row, EncodedMessage(message, member, memory=memory), values

    def remove(self, rows: Iterable[int]) -> None:
        """Remove rows whose messages were stored, or dropped."""
        try:
            with self._guard, self._database:
                self._database.execute("BEGIN IMMEDIATE")
                self._database.executemany("DELETE FROM held WHERE row = ?", [(row,) for row in rows])
        except sqlite3.Error as error:  # they are sent again, and skipped as duplicates
            library_log().error("spool_failed", error=str(error))

    def close(self) -> None:
        """Close the file."""
        with self._guard:
            self._database.close()


def _encoded(sealed: Sealed) -> bytes:
    return msgspec.json.encode({name: base64.b64encode(value).decode() for name, value in sealed.items()})

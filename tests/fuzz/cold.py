"""The archive of a game: each call of it is a place to stop, as each command of Redis is; and what it holds, from outside.

Nothing of the product reads it here: rows are read with sqlite3.
"""

import contextlib
import json
import shutil
import sqlite3
import tempfile
import time
from collections.abc import Callable
from functools import lru_cache
from pathlib import Path
from typing import Any, NamedTuple

from redis.exceptions import ConnectionError as NotConnected
from world import World

from fuzz.activity import current, performed
from om_api.archive.opening import open_archive
from om_api.archive.protocol import Archive
from om_api.domain.errors import ArchiveError

Members = list[tuple[bytes, float]]


class Row(NamedTuple):
    """What the archive holds of one revision of a thing; `text` is all that it says of it, words that are looked up too."""

    resource: str
    name: str
    revision: int
    expires_at: int
    members: Members
    text: str


def has_archive(seed: int) -> bool:
    """Whether the game of a seed has one."""
    return seed % 2 == 1


@lru_cache(1)
def _empty() -> bytes:
    """A file with the tables in it; laying it out takes longer than a game."""
    with tempfile.TemporaryDirectory() as folder:
        made = open_archive(f"sqlite:///{folder}/archive.db")
        made.prepare()
        made.close()
        with contextlib.closing(sqlite3.connect(Path(folder) / "archive.db")) as connection:
            connection.execute("PRAGMA wal_checkpoint(TRUNCATE)")
        return (Path(folder) / "archive.db").read_bytes()


class Cold:
    """A file of SQLite's in a folder of its own. While it is `away` whoever is under way is told that it cannot be reached."""

    def __init__(self):
        self._folder = Path(tempfile.mkdtemp())
        self._path, self.away = self._folder / "archive.db", False
        self._path.write_bytes(_empty())
        self._opened: list[Archive] = []

    @property
    def options(self) -> dict[str, str]:
        return {"archive__url": f"sqlite:///{self._path}", "archive__after": "0s", "archive__keep": "1d"}

    def put_into(self, world: World):
        """Have a world's client and workers stop before every call."""
        for connection in (world.om._connection, world.services.connection):
            endpoint = connection._endpoint
            self._opened.append(endpoint.past)
            endpoint.past = _Stepwise(endpoint.past, self)

    def rows(self) -> list[Row]:
        with contextlib.closing(sqlite3.connect(self._path)) as connection:
            words = dict(connection.execute("SELECT rowid, words FROM om_words"))
            asked = connection.execute("SELECT id, resource, name, revision, expires_at, body FROM om_entries")
            rows = []
            for rowid, resource, name, revision, expires_at, body in asked:
                members = [(_member(member), float(score)) for score, *member in json.loads(body)]
                text = f"{body} {words.get(rowid, '')}"
                rows.append(Row(resource, name, revision, expires_at, members, text))
            return rows

    def time_passes(self, ms: int):
        with contextlib.closing(sqlite3.connect(self._path)) as connection, connection:
            connection.execute("UPDATE om_entries SET expires_at = expires_at - ?, at = at - ?", (ms, ms))

    def close(self):
        for opened in self._opened:
            opened.close()
        shutil.rmtree(self._folder)


def _member(written: list[Any]) -> bytes:
    if len(written) > 1:
        raise ValueError("a member that is no JSON was archived")
    return json.dumps(written[0]).encode()


class _Stepwise:
    """An archive each of whose calls waits for its turn, and may not be answered though it was done."""

    def __init__(self, archive: Archive, cold: Cold):
        self._archive, self._cold = archive, cold

    def __getattr__(self, name: str) -> Callable[..., Any]:
        call = getattr(self._archive, name)

        def called(*args: Any, **options: Any) -> Any:
            try:
                return performed((f"archive.{name}",), lambda: self._reached(lambda: call(*args, **options)))
            except NotConnected as error:
                raise ArchiveError(f"the archive cannot be reached: {error}") from None

        return called

    def _reached(self, call: Callable[[], Any]) -> Any:
        if self._cold.away and current():
            raise ArchiveError("the archive cannot be reached: it is away")
        return call()


def is_over(row: Row) -> bool:
    """Whether its time is over: nobody reads it any more, whether it is still there or not."""
    return row.expires_at <= time.time() * 1000

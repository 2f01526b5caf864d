"""The archive of a run, of which a copy is kept, and which is paused, taken away, and restored from that copy."""

import base64
import json
import sqlite3
import time
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator
from contextlib import ExitStack, closing, contextmanager
from fnmatch import fnmatchcase
from pathlib import Path
from typing import Any, Final, Self

import psycopg
import redis
from postgres import Postgres

from om_api.archive.copying import copy
from om_api.archive.opening import open_archive
from om_api.archive.sql_archive import SqlArchive
from om_api.domain.errors import ArchiveError

_PATIENCE_S: Final = 30.0
_NAME: Final = "om_archive"
_STATES: Final = {"pause": "paused", "kill": "away", "restore": "old"}
Row = tuple[str, str, int, str]
Pair = tuple[bytes, float]


class RunArchive:
    """What befalls an archive: `do` it. `state` says what does now, "" while nothing is wrong: paused, away, old.

    Each has its own way to `_pause` and `_resume`, to `_kill` and `_start`, to `_copy`, to `_restore` that and to `_return`.
    """

    url: str

    def __init__(self) -> None:
        self.state = ""
        self._held = ExitStack()

    def __enter__(self) -> Self:
        with closing(open_archive(self.url)) as opened:
            opened.prepare()
        return self

    def __exit__(self, *_: object) -> None:
        self._held.close()

    def do(self, what: str) -> None:
        """One fault, or its end."""
        state = _STATES.get(what, "")
        self.state = state or self.state  # from before it begins until after it ended
        getattr(self, f"_{what}")()
        self.state = state

    def rows(self) -> list[Row]:
        """Every row, by SQL of nobody else's."""
        found = self.query("SELECT resource, name, revision, body FROM om_entries")
        return [(of, name, int(revision), body) for of, name, revision, body in found]

    def count(self) -> int:
        """How many rows there are."""
        return int(self.query("SELECT count(*) FROM om_entries")[0][0])

    def messages(self) -> int:
        """How many messages the rows hold."""
        return int(self.query("SELECT sum(size) FROM om_entries WHERE kind = 'messages'")[0][0] or 0)

    def query(self, sql: str) -> list[Any]:
        """What a client of the database's own is answered."""
        raise NotImplementedError

    def _merge(self, url: str) -> None:
        """Take over what was written where an older copy stood, as an operator does with `om archive copy`."""
        until = time.monotonic() + _PATIENCE_S
        with closing(SqlArchive(url)) as source, closing(SqlArchive(self.url)) as target:
            while True:
                try:
                    copy(source, target)
                except ArchiveError:  # others write meanwhile
                    if time.monotonic() > until:
                        raise
                else:
                    return


class SqliteArchive(RunArchive):
    """A file in a folder. It is restored as `sqlite3 .restore` does it: in place, while everybody has it open.

    Away is its folder, as a disk that is not mounted, and nothing can be made in its place.
    """

    def __init__(self, folder: Path) -> None:
        super().__init__()
        self._folder, self._away = folder / "archive", folder / "archive-away"
        self._kept, self._newest, self._interim = (folder / f"{name}.db" for name in ("copy", "newest", "interim"))
        self._file = self._folder / "archive.db"
        self.url = f"sqlite:///{self._file}"

    def query(self, sql: str) -> list[Any]:
        with closing(_opened(self._file)) as connection:
            return connection.execute(sql).fetchall()

    def _pause(self) -> None:
        self._locks = self._held.enter_context(closing(_opened(self._file)))
        self._locks.execute("BEGIN EXCLUSIVE")

    def _resume(self) -> None:
        self._locks.rollback()
        self._locks.close()

    def _kill(self) -> None:
        self._folder.rename(self._away)
        self._folder.touch()

    def _start(self) -> None:
        self._folder.unlink()
        self._away.rename(self._folder)

    def _copy(self) -> None:
        _copied(self._file, self._kept)

    def _restore(self) -> None:
        self._replace(self._kept, self._newest)

    def _return(self) -> None:
        self._replace(self._newest, self._interim)
        self._merge(f"sqlite:///{self._interim}")

    def _replace(self, by: Path, kept: Path) -> None:
        """Put a copy in the archive's place; what stood there until then is `kept`, and nobody writes between the two."""
        kept.unlink(missing_ok=True)

        def keep(status: int, _left: int, _all: int) -> None:
            if status == sqlite3.SQLITE_OK and not kept.exists():  # nobody else writes from the first page on
                _copied(self._file, kept)

        with closing(_opened(by)) as source, closing(_opened(self._file)) as target:
            source.backup(target, pages=1, progress=keep)


def _opened(path: Path) -> sqlite3.Connection:
    return sqlite3.connect(f"file:{path}?mode=rw", uri=True, timeout=_PATIENCE_S, isolation_level=None)


def _copied(path: Path, to: Path) -> None:
    with closing(_opened(path)) as source, closing(sqlite3.connect(to)) as target:
        source.backup(target)


class PostgresArchive(RunArchive):
    """A database of a server's own. A copy of it is one more database, and to restore is to give that its name."""

    def __init__(self, folder: Path) -> None:
        super().__init__()
        self._server = server = Postgres(folder / "postgres")
        self._pause, self._resume, self._kill, self._start = server.pause, server.go_on, server.kill, server.start
        self.url = self._url(_NAME)

    def __enter__(self) -> Self:
        with ExitStack() as held:
            held.enter_context(self._server)
            self._say(f"CREATE DATABASE {_NAME}")
            super().__enter__()
            self._held.push(held.pop_all())
        return self

    def query(self, sql: str) -> list[Any]:
        with psycopg.connect(self.url) as connection:
            return connection.execute(sql).fetchall()

    def _copy(self) -> None:
        with self._alone():
            self._say("DROP DATABASE IF EXISTS om_copy", f"CREATE DATABASE om_copy TEMPLATE {_NAME}")

    def _restore(self) -> None:
        with self._alone():
            self._say("DROP DATABASE IF EXISTS om_newest", f"ALTER DATABASE {_NAME} RENAME TO om_newest")
            self._say(f"CREATE DATABASE {_NAME} TEMPLATE om_copy")

    def _return(self) -> None:
        with self._alone():
            self._say("DROP DATABASE IF EXISTS om_interim", f"ALTER DATABASE {_NAME} RENAME TO om_interim")
            self._say(f"ALTER DATABASE om_newest RENAME TO {_NAME}", "ALTER DATABASE om_interim ALLOW_CONNECTIONS true")
        self._merge(self._url("om_interim"))

    @contextmanager
    def _alone(self) -> Iterator[None]:
        """Nobody is connected to the archive, nor will be, until whatever has its name then is ready."""
        self._say(f"ALTER DATABASE {_NAME} ALLOW_CONNECTIONS false")
        self._say(f"SELECT pg_terminate_backend(pid, 5000) FROM pg_stat_activity WHERE datname = '{_NAME}'")
        yield
        self._say(f"ALTER DATABASE {_NAME} ALLOW_CONNECTIONS true")

    def _say(self, *statements: str) -> None:
        with psycopg.connect(self._server.url, autocommit=True) as connection:
            for statement in statements:
                connection.execute(statement)

    def _url(self, name: str) -> str:
        return f"{self._server.url.rpartition('/')[0]}/{name}"


ARCHIVES: Final[dict[str, Callable[[Path], RunArchive]]] = {"sqlite": SqliteArchive, "postgres": PostgresArchive}


class Both:
    """A client of Redis for which nothing was archived. `lacks`: what Redis names and no row is; `unnamed` rows count nowhere."""

    def __init__(self, client: redis.Redis, prefix: str, rows: Iterable[Row], resource: str = "*") -> None:
        self._client, self._held = client, defaultdict[bytes, list[Pair]](list)
        self.lacks: list[str] = []
        bodies = defaultdict[tuple[str, str], dict[int, str]](dict)
        for of, name, revision, body in rows:
            bodies[of, name][revision] = body
        for key in client.scan_iter(f"{prefix}:{{{resource}}}:archived", count=1000):
            base = key.decode().removesuffix(":archived")
            of = base.removeprefix(f"{prefix}:{{").removesuffix("}")
            for name, mark in client.zrange(key, 0, -1, withscores=True):
                self._take(base, name.decode(), int(mark), bodies[of, name.decode()])
        self.unnamed = sum(map(len, bodies.values()))

    def _take(self, base: str, name: str, mark: int, bodies: dict[int, str]) -> None:
        """The row that counts: of the revision that Redis names, or else the next one above."""
        counts = min((revision for revision in bodies if revision >= mark), default=None)
        if counts is None:
            self.lacks.append(f"{base}:{name}")
            return
        self._held[f"{base}:{name.partition('|')[0]}".encode()] += _members(bodies.pop(counts))

    def scan_iter(self, pattern: str, count: int = 1000) -> Iterator[bytes]:
        """Keys of both."""
        there = set(self._client.scan_iter(pattern, count=count))
        yield from there
        yield from (key for key in self._held if key not in there and fnmatchcase(key.decode(), pattern))

    def zrange(self, key: str | bytes, first: int, last: int, *, withscores: bool = False) -> list[Any]:
        """Members of both, in order; whatever stands in both homes is there twice."""
        archived = self._held.get(key if isinstance(key, bytes) else key.encode(), [])
        found = self._client.zrange(key, 0, -1, withscores=True)
        found = sorted([*archived, *found], key=lambda pair: pair[1])[first : last + 1 or None]
        return found if withscores else [member for member, _ in found]

    def __getattr__(self, name: str) -> Any:
        return getattr(self._client, name)


def _members(body: str) -> Iterator[Pair]:
    for score, member, *rest in json.loads(body):
        yield base64.b64decode(rest[0]) if rest else json.dumps(member).encode(), score

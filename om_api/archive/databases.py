"""Which databases an archive may be in, and how each is connected to."""

import contextlib
import math
import os
import sqlite3
import time
from pathlib import Path
from typing import Any, Final
from urllib.parse import quote

from sqlalchemy import URL, Connection, Engine, create_engine, event, make_url
from sqlalchemy.exc import ArgumentError
from sqlalchemy.pool import QueuePool

from om_api.archive.bounded_connection import BinaryCursor, BoundedConnection
from om_api.archive.schema import SQLITE
from om_api.domain.errors import SettingsError

_PERMITTED: Final = "permitted: sqlite:///path/of/a/file, or postgresql://user:password@host:5432/database"
_POOL: Final = 5  # connections of a process
_MB: Final = 2**20
_PRAGMAS: Final = (
    "synchronous = FULL",  # what Redis drops must survive a power cut
    "secure_delete = ON",  # what is deleted is overwritten
    f"cache_size = -{8 * _MB // 1024}",
    f"mmap_size = {256 * _MB}",
)


def address(url: str) -> URL:
    """Read an archive's address; raises SettingsError for what is none, without repeating it: a password may be in it."""
    try:
        read = make_url(url)
    except (ArgumentError, ValueError):
        raise SettingsError(f"the archive's url cannot be read; {_PERMITTED}") from None
    if read.drivername == "sqlite" and read.database not in {None, "", ":memory:"} and not (read.host or read.query):
        return read
    if read.drivername == "postgresql" and (read.host or read.query.get("host")):
        return read
    raise SettingsError(f"the archive's url begins with {read.drivername}: and is none of an archive; {_PERMITTED}")


def shown(url: URL) -> str:
    """The address for people: no user, no password, no options."""
    if url.drivername == SQLITE:
        return f"in {url.database}"
    return f"at {url.host or url.query.get('host')}:{url.port or 5432}/{url.database or ''}"


def file_at(url: URL) -> tuple[int, int] | None:
    """Which file of SQLite's stands at an address now; None where there is none, or the database is no file."""
    if url.drivername != SQLITE:
        return None
    try:
        found = Path(str(url.database)).stat()
    except OSError:
        return None
    return found.st_dev, found.st_ino


def engine(url: URL, timeout_s: float) -> Engine:
    """Connections to an archive, none of which is open yet. Waits for locks and statements end after `timeout_s`."""
    return _sqlite(url, timeout_s) if url.drivername == SQLITE else _postgres(url, timeout_s)


def writing(own: Engine) -> Engine:
    """The same connections for transactions that write: SQLite gives them the database at once, or after waiting for it."""
    return own.execution_options(om_writes=True)


def make_file(url: URL, timeout_s: float) -> None:
    """Make SQLite's file where there is none, readable by its owner only, and have readers not wait for writers."""
    if url.drivername != SQLITE:
        return
    path = Path(str(url.database))
    path.parent.mkdir(parents=True, exist_ok=True)
    os.close(os.open(path, os.O_CREAT | os.O_RDWR, 0o600))
    ends = time.monotonic() + timeout_s
    with contextlib.closing(_connect_sqlite(url, timeout_s)) as connection:
        while connection.execute("PRAGMA journal_mode").fetchone() != ("wal",):
            try:
                connection.execute("PRAGMA journal_mode = WAL")
            except sqlite3.OperationalError:  # another process does the same: nobody waits for this lock by himself
                if time.monotonic() > ends:
                    raise
                time.sleep(0.02)


def empty_log(url: URL, timeout_s: float) -> bool:
    """Have SQLite write what stands in its log into the file, and empty it; False while others read what is older."""
    with contextlib.closing(_connect_sqlite(url, timeout_s)) as connection:
        is_busy, *_ = connection.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchone()
    return not is_busy


def _sqlite(url: URL, timeout_s: float) -> Engine:
    own = create_engine(
        "sqlite://",
        creator=lambda: _connect_sqlite(url, timeout_s),
        poolclass=QueuePool,
        pool_size=_POOL,
        max_overflow=0,
        pool_timeout=timeout_s,
        hide_parameters=True,
    )

    @event.listens_for(own, "begin")
    def _begin(connection: Connection) -> None:
        is_writing = connection.get_execution_options().get("om_writes")
        connection.exec_driver_sql("BEGIN IMMEDIATE" if is_writing else "BEGIN")

    return own


def _connect_sqlite(url: URL, timeout_s: float) -> sqlite3.Connection:
    """`mode=rw`: a file that is not there is not made by reading it."""
    made = sqlite3.connect(
        f"file:{quote(str(url.database))}?mode=rw",
        timeout=timeout_s,
        isolation_level=None,
        check_same_thread=False,
        uri=True,
    )
    try:
        for pragma in _PRAGMAS:
            made.execute(f"PRAGMA {pragma}")
    except BaseException:
        made.close()
        raise
    return made


def _postgres(url: URL, timeout_s: float) -> Engine:
    ms = max(1, round(timeout_s * 1000))
    limits = f"-c statement_timeout={ms} -c lock_timeout={ms} -c idle_in_transaction_session_timeout={10 * ms}"
    limits += " -c enable_seqscan=off"  # no plan reckons what it costs to unpack the words of every row
    given = url.query.get("options", "")
    options = f"{given if isinstance(given, str) else ' '.join(given)} {limits}".strip()
    own = create_engine(
        url.set(drivername="postgresql+psycopg").difference_update_query(["options"]),
        connect_args={"connect_timeout": max(2, math.ceil(timeout_s)), "options": options},
        pool_size=_POOL,
        max_overflow=0,
        pool_timeout=timeout_s,
        pool_pre_ping=True,
        hide_parameters=True,
    )

    @event.listens_for(own, "do_connect")
    def _connect(_dialect: Any, _record: Any, args: list[Any], parameters: dict[str, Any]) -> BoundedConnection:
        made = BoundedConnection.connect(*args, cursor_factory=BinaryCursor, **parameters)
        made.answers_within(timeout_s)
        return made

    return own

"""What went wrong in a database, in words that say what to do; never with its password, nor with anything that is kept."""

from collections.abc import Iterator
from contextlib import contextmanager
from sqlite3 import Error as SqliteError
from typing import Final

from psycopg import Error as PostgresError
from sqlalchemy.exc import SQLAlchemyError
from sqlalchemy.exc import TimeoutError as PoolTimeoutError

from om_api.archive.schema import SchemaError
from om_api.domain.errors import ArchiveError

_FULL = "its disk is full: make room; until then nothing more is archived, and Redis keeps what is due"
_BUSY = "it is locked by others, or too slow to answer in time: look for long transactions there, then try again"
_DENIED = (
    "it does not let this user do that: grant what docs/archive.md lists (of a file: to write it and its folder), or correct the "
    "address"
)
_NO_FILE = (
    "its file cannot be opened: bring it back, or correct path and permissions; where there never was one, or it is gone for "
    "good, `om archive upgrade` makes an empty one"
)
_FOREIGN = "it is no database of this archive: correct the address, or restore a backup"
_UNLAID = "it has no archive's tables, or others than ours: run `om archive upgrade`"
_AWAY = "it cannot be reached: start the server, or correct the address; until then Redis keeps what is due"
_BROKEN = "it is damaged: restore a backup"

_SQLITE: Final = {  # by the first two words of the error's name
    "SQLITE_FULL": _FULL,
    "SQLITE_BUSY": _BUSY,
    "SQLITE_LOCKED": _BUSY,
    "SQLITE_PERM": _DENIED,
    "SQLITE_READONLY": _DENIED,
    "SQLITE_AUTH": _DENIED,
    "SQLITE_CANTOPEN": _NO_FILE,
    "SQLITE_NOTADB": _FOREIGN,
    "SQLITE_CORRUPT": _BROKEN,
    "SQLITE_IOERR": "its disk cannot be read or written: look at the system's log",
    "SQLITE_ERROR": _UNLAID,
}
_POSTGRES: Final = {  # by SQLSTATE, its class where there is none of the whole
    "53100": _FULL,
    "53": "it has no more connections or memory to give: raise its limits, or use fewer processes",
    "55P03": _BUSY,
    "57014": _BUSY,
    "40": _BUSY,
    "42501": _DENIED,
    "28": "it does not know this user or password: correct the address, or the variable that archive.password_env names",
    "3D": "there is no such database: create it, or correct the address",
    "25006": "it takes no writes: it is a standby, or set to read only; write to the primary",
    "42": _UNLAID,
    "3F": _UNLAID,
    "08": _AWAY,
    "57": _AWAY,
    "58": "its disk cannot be read or written: look at the server's log",
    "XX": _BROKEN,
}


@contextmanager
def told(where: str) -> Iterator[None]:
    """Raise ArchiveError instead of what SQLAlchemy or a driver raises within; `where` names the archive."""
    try:
        yield
    except PoolTimeoutError:
        raise ArchiveError(f"the archive {where}: all connections of this process are in use: try again") from None
    except SchemaError as error:
        raise ArchiveError(f"the archive {where}: {error}") from None
    except (SQLAlchemyError, SqliteError, PostgresError, OSError, OverflowError) as error:
        raise ArchiveError(f"the archive {where}: {_why(getattr(error, 'orig', None) or error)}") from None


def _why(error: BaseException) -> str:
    if isinstance(error, SqliteError):
        name = str(getattr(error, "sqlite_errorname", ""))
        known = _SQLITE.get("_".join(name.split("_")[:2]))
        return f"{known} ({name})" if known else f"it did not do that ({name or type(error).__name__})"
    if isinstance(error, PostgresError):
        if not (state := error.sqlstate):
            return _of_message(error)
        known = _POSTGRES.get(state) or _POSTGRES.get(state[:2])
        return f"{known or 'it did not do that'} (SQLSTATE {state})"
    if isinstance(error, PermissionError):
        return _DENIED
    return f"it did not do that ({type(error).__name__})"


def _of_message(error: PostgresError) -> str:
    """What the driver says of a connection that was not made carries no state, but the server's words."""
    said = str(error)
    for part, known in (
        ("password", "28"),
        ("role", "28"),
        ("pg_hba", "28"),
        ("does not exist", "3D"),
        ("too many", "53"),
    ):
        if part in said:
            return _POSTGRES[known]
    return _AWAY

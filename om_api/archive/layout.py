"""Laying a database out and telling its version; Alembic does the work, in one transaction that excludes every other."""

from pathlib import Path
from typing import Final

from alembic import command
from alembic.config import Config
from sqlalchemy import Connection, inspect, select, text

from om_api.archive.schema import SQLITE, VERSION, VERSION_TABLE, VERSIONS, SchemaError

_LOCK: Final = 0x6F6D6172  # one number of Postgres' advisory locks is ours
_CURRENT: Final = VERSIONS[-1]


def version(connection: Connection) -> str | None:
    """The version of the schema; None where there is none."""
    if not inspect(connection).has_table(VERSION_TABLE):
        return None
    return connection.execute(select(VERSION.c.version_num)).scalar()


def check(connection: Connection) -> None:
    """Raise ArchiveError unless the schema is of this version."""
    _check(version(connection))


def prepare(connection: Connection) -> None:
    """Make the schema where there is none; raises ArchiveError where one of another version is."""
    _alone(connection)
    found = version(connection)
    if found is None:
        _migrate(connection)
    else:
        _check(found)


def upgrade(connection: Connection) -> None:
    """Bring the schema to this version; raises ArchiveError where it is of a newer one."""
    _alone(connection)
    found = version(connection)
    if found is not None and found not in VERSIONS:
        _check(found)
    _migrate(connection)


def _check(found: str | None) -> None:
    if found is None:
        raise SchemaError("it has no archive's tables: run `om archive upgrade`")
    if found == _CURRENT:
        return
    if found in VERSIONS:
        raise SchemaError(f"its schema is {found}, this process needs {_CURRENT}: run `om archive upgrade`")
    raise SchemaError(f"its schema is {found}, this process knows {_CURRENT}: upgrade this process")


def _alone(connection: Connection) -> None:
    """Wait until no other process lays it out; in SQLite, whoever writes is alone."""
    if connection.dialect.name == SQLITE:
        return
    connection.execute(text("SELECT pg_advisory_xact_lock(:lock)"), {"lock": _LOCK})
    if (found := connection.execute(text("SHOW server_encoding")).scalar()) != "UTF8":
        raise SchemaError(f"its encoding is {found}: create a database with ENCODING 'UTF8' for it")


def _migrate(connection: Connection) -> None:
    config = Config()
    config.set_main_option("script_location", str(Path(__file__).with_name("migrations")).replace("%", "%%"))
    config.attributes["connection"] = connection
    command.upgrade(config, "head")

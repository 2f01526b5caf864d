"""The tables as statements name them. What makes them stands in migrations/, a file for each kind of database."""

from typing import Final

from sqlalchemy import BigInteger, Column, Integer, LargeBinary, MetaData, Table, Text

from om_api.domain.errors import ArchiveError

VERSIONS: Final = ("0001",)
"""Of the schema, oldest first; each is a file of migrations/versions."""
VERSION_TABLE: Final = "om_version"
SQLITE: Final = "sqlite"


class SchemaError(ArchiveError):
    """A database that this process cannot use as it is laid out; `told` names it."""


_metadata = MetaData()
ENTRIES: Final = Table(
    "om_entries",
    _metadata,
    Column("resource", Text, primary_key=True),
    Column("name", Text, primary_key=True),
    Column("kind", Text, nullable=False),
    Column("thread", Text, nullable=False),
    Column("at", BigInteger, nullable=False),
    Column("expires_at", BigInteger, nullable=False),
    Column("revision", Integer, primary_key=True),
    Column("archived_at", BigInteger, nullable=False),
    Column("size", Integer, nullable=False),
    Column("length", Integer, nullable=False),
    Column("languages", Text, nullable=False),
    Column("first_at", BigInteger, nullable=False),
    Column("last_at", BigInteger, nullable=False),
    Column("body", Text, nullable=False),
    Column("segment", LargeBinary, nullable=False),
)
FENCES: Final = Table(
    "om_fences",
    _metadata,
    Column("resource", Text, primary_key=True),
    Column("fence", BigInteger, nullable=False),
)
VERSION: Final = Table(VERSION_TABLE, _metadata, Column("version_num", Text, primary_key=True))

"""Words as each kind of database keeps and finds them: a table of FTS5 in SQLite, a tsvector under GIN in Postgres."""

from collections.abc import Iterable, Sequence
from typing import Any, Final

from sqlalchemy import ColumnElement, Connection, TextClause, text

from om_api.archive.schema import ENTRIES, SQLITE
from om_api.archive.words import WHOLE, of_resource

_COLUMNS: Final = ", ".join(column.name for column in ENTRIES.c)
_VALUES: Final = ", ".join(f":{column.name}" for column in ENTRIES.c)
_TO_SQLITE: Final = text(f"INSERT INTO om_entries (id, {_COLUMNS}) VALUES (:id, {_VALUES})")  # noqa: S608
_WORDS_TO_SQLITE: Final = text("INSERT INTO om_words (rowid, words) VALUES (:id, :words)")
_TO_POSTGRES: Final = text(
    f"INSERT INTO om_entries ({_COLUMNS}, words)"  # noqa: S608
    f" VALUES ({_VALUES}, array_to_tsvector(string_to_array(nullif(CAST(:words AS text), ''), ' ')))"
)


def insert_rows(connection: Connection, rows: Sequence[dict[str, Any]]) -> None:
    """Insert rows with their `words`; none of them may be there."""
    if not rows:
        return
    if connection.dialect.name != SQLITE:
        connection.execute(_TO_POSTGRES, rows)
        return
    last = connection.execute(text("SELECT coalesce(max(id), 0) FROM om_entries")).scalar_one()
    numbered = [{**row, "id": number} for number, row in enumerate(rows, last + 1)]
    connection.execute(_TO_SQLITE, numbered)
    if searched := [{"id": row["id"], "words": row["words"]} for row in numbered if row["words"]]:
        connection.execute(_WORDS_TO_SQLITE, searched)


def merge_words(connection: Connection) -> None:
    """Have SQLite's index forget the words of what was deleted, which it keeps until its parts are merged."""
    connection.execute(text("INSERT INTO om_words (om_words) VALUES ('optimize')"))


def with_any(dialect: str, resource: str, words: Iterable[str]) -> ColumnElement[bool] | TextClause:
    """What holds for entries of a resource that have any of the words, and for those whose words are not whole."""
    own = of_resource(resource)
    if dialect == SQLITE:
        asked = " OR ".join(f'"{word.replace(chr(34), chr(34) * 2)}"' for word in words)
        query = f'("{own}" AND ({asked})) OR ("{own}" NOT "{WHOLE}")'
        return text("id IN (SELECT rowid FROM om_words WHERE om_words MATCH :query)").bindparams(query=query)
    asked = " | ".join("'" + word.replace("\\", r"\\").replace("'", "''") + "'" for word in words)
    query = f"'{own}' & ({asked} | !'{WHOLE}')"
    return text("words @@ CAST(:query AS tsquery)").bindparams(query=query)

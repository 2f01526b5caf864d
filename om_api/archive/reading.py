"""What is asked of the archive, each on a connection of its caller's."""

from collections.abc import Collection, Mapping, Sequence
from typing import Any

from sqlalchemy import ColumnElement, Connection, TextClause, and_, case, distinct, func, or_, select, text

from om_api.archive.entries import Entry, Figures, Head
from om_api.archive.full_text import with_any
from om_api.archive.protocol import Row
from om_api.archive.rows import HEADS, WHOLE, entry_of, head_of, slices
from om_api.archive.schema import ENTRIES, FENCES, SQLITE
from om_api.archive.words import of_message, of_terms
from om_api.recall.analysis import is_anywhere

_MESSAGES = ENTRIES.c.kind == "messages"


def fences(connection: Connection, resources: Collection[str]) -> dict[str, int]:
    """The fence of each resource, 0 where it never rose."""
    found = dict.fromkeys(resources, 0)
    for some in slices(sorted(found)):
        rows = connection.execute(select(FENCES).where(FENCES.c.resource.in_(some)))
        found |= {row.resource: row.fence for row in rows}
    return found


def read(connection: Connection, resource: str, marks: Mapping[str, int]) -> dict[str, Entry]:
    """Whole entries by name."""
    return {row.name: entry_of(row) for row in _counting(connection, WHOLE, resource, marks)}


def segments(connection: Connection, resource: str, marks: Mapping[str, int]) -> dict[str, bytes]:
    """Segments by name."""
    columns = [ENTRIES.c.name, ENTRIES.c.revision, ENTRIES.c.segment]
    return {row.name: bytes(row.segment) for row in _counting(connection, columns, resource, marks)}


def heads(connection: Connection, resource: str) -> list[Head]:
    """What is known of messages, from the oldest on."""
    asked = select(*HEADS).where(ENTRIES.c.resource == resource, _MESSAGES)
    rows = connection.execute(asked.order_by(ENTRIES.c.first_at, ENTRIES.c.name, ENTRIES.c.revision))
    return [*{row.name: head_of(row) for row in rows}.values()]


def search(
    connection: Connection, resource: str, terms: Collection[str], periods: Sequence[tuple[int, int]]
) -> set[str]:
    """Names of messages by their terms, and by when they were said."""
    if any(map(is_anywhere, terms)):
        return _names(connection, ENTRIES.c.resource == resource, _MESSAGES)
    said = [and_(ENTRIES.c.first_at < end, ENTRIES.c.last_at >= start) for start, end in periods]
    found = _names(connection, ENTRIES.c.resource == resource, _MESSAGES, or_(*said)) if said else set()
    for some in slices(list(of_terms(terms))):
        found |= _with_any(connection, resource, some)
    return found


def holding(connection: Connection, resource: str, message_id: str, thread: str | None) -> set[str]:
    """Names of messages by the id of one."""
    of_thread = [] if thread is None else [ENTRIES.c.thread.in_((thread, ""))]
    return _with_any(connection, resource, [of_message(message_id)], *of_thread)


def names(connection: Connection, resource: str) -> set[Row]:
    """Every row."""
    asked = select(ENTRIES.c.name, ENTRIES.c.revision).where(ENTRIES.c.resource == resource)
    return {(name, revision) for name, revision in connection.execute(asked)}


def expired(connection: Connection, now_ms: int, most: int, resource: str | None) -> list[tuple[str, str, int]]:
    """What is to go, the oldest first."""
    asked = select(ENTRIES.c.resource, ENTRIES.c.name, ENTRIES.c.revision).where(ENTRIES.c.expires_at <= now_ms)
    if resource is not None:
        asked = asked.where(ENTRIES.c.resource == resource)
    rows = connection.execute(asked.order_by(ENTRIES.c.expires_at).limit(most))
    return [(of, name, revision) for of, name, revision in rows]


def resources(connection: Connection, after: str, most: int) -> list[str]:
    """The next resources in the order of their bytes."""
    asked = select(ENTRIES.c.resource).distinct().where(ENTRIES.c.resource > after)
    return list(connection.execute(asked.order_by(ENTRIES.c.resource).limit(most)).scalars())


def figures(connection: Connection) -> Figures:
    """Counts of all there is; the index of times has all that it asks for."""
    asked = select(
        func.count(), func.sum(case((_MESSAGES, ENTRIES.c.size), else_=0)), func.count(distinct(ENTRIES.c.resource))
    )
    entries, messages, owners = connection.execute(asked.select_from(ENTRIES)).one()
    return Figures(entries, int(messages or 0), owners, _bytes(connection))


def _bytes(connection: Connection) -> int:
    if connection.dialect.name == SQLITE:
        asked = "SELECT page_count * page_size FROM pragma_page_count(), pragma_page_size()"
    else:
        asked = "SELECT pg_total_relation_size('om_entries') + pg_total_relation_size('om_fences')"
    return int(connection.execute(text(asked)).scalar() or 0)


def _counting(connection: Connection, columns: Sequence[Any], resource: str, marks: Mapping[str, int]) -> list[Any]:
    """Of each name the row of its revision, or else the next one."""
    own = select(*columns).where(ENTRIES.c.resource == resource).order_by(ENTRIES.c.revision.desc())
    rows = [row for some in slices(sorted(marks)) for row in connection.execute(own.where(ENTRIES.c.name.in_(some)))]
    return [*{row.name: row for row in rows if row.revision >= marks[row.name]}.values()]


def _with_any(
    connection: Connection, resource: str, words: Sequence[str], *conditions: ColumnElement[bool]
) -> set[str]:
    """The words are asked for alone, which messages have only: by any other index, every entry's words would be unpacked."""
    is_own = ENTRIES.c.resource.concat("") == resource
    return _names(connection, with_any(connection.dialect.name, resource, words), is_own, *conditions)


def _names(connection: Connection, *conditions: ColumnElement[bool] | TextClause) -> set[str]:
    return set(connection.execute(select(ENTRIES.c.name).where(*conditions)).scalars())

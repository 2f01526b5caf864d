"""Entries as rows, and back."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Final, TypeVar

from om_api.archive.body import from_body, to_body
from om_api.archive.entries import Entry, Head, NotArchivableError
from om_api.archive.schema import ENTRIES
from om_api.archive.words import indexed
from om_api.domain.errors import ArchiveError

T = TypeVar("T")
_AT_ONCE: Final = 500
_CONTENT: Final = ("body", "segment")
WHOLE: Final = [
    ENTRIES.c[name] for name in ("resource", "name", "kind", "thread", "at", "expires_at", *_CONTENT, "revision")
]
HEADS: Final = [
    ENTRIES.c[name] for name in ("name", "thread", "size", "length", "languages", "first_at", "expires_at", "revision")
]


def row_of(entry: Entry, now_ms: int) -> dict[str, Any]:
    """A row with its `words`; raises ArchiveError for what cannot be archived."""
    body, found = _body(entry), indexed(entry)
    return {
        "resource": entry.resource,
        "name": entry.name,
        "kind": entry.kind,
        "thread": entry.thread,
        "at": entry.at,
        "expires_at": entry.expires_at,
        "revision": entry.revision,
        "archived_at": now_ms,
        **found._asdict(),
        "languages": ",".join(found.languages),
        "body": body,
        "segment": entry.segment,
    }


def _body(entry: Entry) -> str:
    try:
        return to_body(entry.members)
    except ArchiveError as error:
        raise NotArchivableError(f"{entry.resource}: {entry.name} cannot be archived: {error}") from None


def entry_of(row: Sequence[Any]) -> Entry:
    """An entry from the columns WHOLE; raises ArchiveError for one that is not as it was written."""
    resource, name, kind, thread, at, expires_at, body, segment, revision = row
    try:
        members = from_body(body)
    except ArchiveError as error:
        raise ArchiveError(f"{resource}: {name} in the archive: {error}") from None
    return Entry(resource, name, kind, thread, at, expires_at, members, bytes(segment), revision)


def head_of(row: Sequence[Any]) -> Head:
    """A head from the columns HEADS."""
    name, thread, size, length, languages, first_at, expires_at, revision = row
    found = tuple(languages.split(",") if languages else ())
    return Head(name, thread, size, length, found, first_at, expires_at, revision)


def is_same(row: Mapping[str, Any], kept: Any) -> bool:
    """Whether a row that is to be written has the content of one that is kept."""
    return all(row[name] == getattr(kept, name) for name in _CONTENT)


def slices(values: Sequence[T]) -> Iterator[Sequence[T]]:
    """Parts of what is asked for, none of which has more values than a statement may have."""
    return (values[at : at + _AT_ONCE] for at in range(0, len(values), _AT_ONCE))

"""An item as it is kept: its JSON, since when, and what its owner said of it."""

import json
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, NamedTuple, TypeAlias

from om_api.domain.errors import InvalidInputError
from om_api.domain.nesting import check_depth
from om_api.store.items.namespaces import Namespace

Fields: TypeAlias = (
    Sequence[str] | bool | None
)  # those by whose words an item is found; False: none, None: as its store says
LONGEST_TTL_MINUTES = 52_560_000  # a hundred years


class ItemPut(NamedTuple):
    """What is to be done with the item of a key: `body` as `body_of` writes it, None to drop it.

    `ttl_ms` counts from the last use; 0 is for good.
    """

    namespace: Namespace
    key: str
    body: bytes | None
    ttl_ms: int = 0


class StoredItem(NamedTuple):
    """An item as it was found; `created` and `updated` are the server's time in microseconds."""

    namespace: Namespace
    key: str
    value: dict[str, Any]
    fields: Fields
    created: int
    updated: int
    ttl_ms: int

    @property
    def text(self) -> str:
        """Whatever stands in its value, a line each; names of fields are left out."""
        return "\n".join(_texts(self.value))


def body_of(value: Mapping[str, Any], fields: Fields = None) -> bytes:
    """The bytes of a value and of its fields; raises InvalidInputError unless it is an object of JSON."""
    if not _are_fields(fields):
        raise InvalidInputError(
            f"index is {fields!r}: give a list of fields, such as ['text'], False for none, or None"
        )
    try:
        _check_names(value)
        written = [json.dumps(each, allow_nan=False, ensure_ascii=False) for each in (fields, dict(value))]
        body = "\n".join(written).encode("utf-8", "surrogatepass")
        check_depth(body)
    except (TypeError, ValueError, RecursionError) as error:
        raise InvalidInputError(
            f"an item's value must be an object of JSON, with names that are strings ({error}): turn what is none into one"
        ) from error
    return body


def item_of(namespace: Namespace, key: str, record: bytes) -> StoredItem | None:
    """The item of a record as `keep_items.lua` writes it; None for what nobody wrote so."""
    try:
        head, fields, value = record.decode("utf-8", "surrogatepass").split("\n", 2)
        created, updated, ttl_ms = map(int, head.split(" "))
        item = StoredItem(namespace, key, dict(json.loads(value)), json.loads(fields), created, updated, ttl_ms)
    except (TypeError, ValueError, RecursionError):
        return None
    return item if _are_fields(item.fields) else None


def ttl_ms_of(minutes: float | None) -> int:
    """A lifetime in ms, 0 for None; raises InvalidInputError for one that cannot be."""
    if minutes is None:
        return 0
    if isinstance(minutes, bool) or not isinstance(minutes, int | float) or not 0 < minutes <= LONGEST_TTL_MINUTES:
        raise InvalidInputError(
            f"ttl is {minutes!r}: give minutes, more than 0 and at most {LONGEST_TTL_MINUTES:,}, or None to keep it for good"
        )
    return max(1, round(minutes * 60_000))


def _are_fields(fields: Any) -> bool:
    if isinstance(fields, list | tuple):
        return all(isinstance(each, str) for each in fields)
    return fields is None or fields is False


def _check_names(value: Any) -> None:
    for inner in _inner(value):
        _check_names(inner)
    for name in value if isinstance(value, Mapping) else ():
        if not isinstance(name, str):
            raise TypeError(f"{name!r} is the name of a field")


def _texts(value: Any) -> Iterator[str]:
    if isinstance(value, dict | list):
        for inner in _inner(value):
            yield from _texts(inner)
    elif value is not None:
        yield str(value)


def _inner(value: Any) -> Sequence[Any]:
    if isinstance(value, Mapping):
        return [*value.values()]
    return value if isinstance(value, list | tuple) else ()

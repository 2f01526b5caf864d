"""Lists in pages: a cursor says behind which entry the next page begins, so entries that come or go meanwhile shift nothing."""

import base64
import binascii
from collections.abc import Callable, Iterable
from typing import Annotated, Generic, TypeVar

import msgspec
from fastapi import Query

from om_api.errors import InvalidInputError
from om_api.http.limits import MAX_PAGE, PAGE

T = TypeVar("T")
Cursor = Annotated[str | None, Query(max_length=1_000, description="`next` of the page before; none: the first page")]
Limit = Annotated[int, Query(ge=1, le=MAX_PAGE, description="most entries of the page")]
DEFAULT = PAGE


class Page(msgspec.Struct, Generic[T], frozen=True):
    """Some entries of a list, in a lasting order; `next` is the cursor of the page behind, null on the last one."""

    items: list[T]
    next: str | None = None


def page(entries: Iterable[T], place: Callable[[T], str], cursor: str | None, limit: int) -> Page[T]:
    """The entries behind a cursor, by their places, which no two entries share."""
    after = read(cursor)
    rest = sorted((entry for entry in entries if place(entry) > after), key=place)
    return first(rest, place, limit)


def first(rest: list[T], place: Callable[[T], str], limit: int) -> Page[T]:
    """A page of what is left, which is in order already; one more than `limit` says that there is a next one."""
    shown = rest[:limit]
    return Page(shown, _write(place(shown[-1])) if len(rest) > limit else None)


def _write(place: str) -> str:
    return base64.urlsafe_b64encode(place.encode()).decode().rstrip("=")


def read(cursor: str | None) -> str:
    """The place a cursor names, "" for the beginning; raises InvalidInputError for one that we never gave."""
    text = cursor or ""
    try:
        return base64.b64decode(text + "=" * (-len(text) % 4), b"-_", validate=True).decode()
    except (binascii.Error, ValueError):
        raise InvalidInputError(
            f"cursor {text[:40]!r} is none of ours: leave it out to begin at the first page"
        ) from None

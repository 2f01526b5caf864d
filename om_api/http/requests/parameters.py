"""What paths and questions name: ids, and a page of a list.

A cursor says behind which entry the next page begins, so entries that come or go meanwhile shift nothing.
"""

import base64
import binascii
from collections.abc import Callable, Iterable
from typing import Annotated, Generic, NamedTuple, TypeVar

import msgspec
from fastapi import Depends, Path, Query
from pydantic import BeforeValidator, StringConstraints

from om_api.domain.errors import InvalidInputError
from om_api.domain.naming.ids import any_name
from om_api.domain.requests.request_model import FirstFault
from om_api.domain.values import ID_PATTERN
from om_api.http.serving.limits import MAX_PAGE, PAGE

T = TypeVar("T")
_PATTERN = f"^{ID_PATTERN.pattern}$"
ResourceId = Annotated[str, Path(pattern=_PATTERN, description="whose memory", examples=["harold"])]
ThreadId = Annotated[str, Path(pattern=_PATTERN, description="one conversation", examples=["thread-1"])]
OfThread = Annotated[
    str | None,
    Query(pattern=_PATTERN, description="only this thread's", examples=["thread-1"]),
    BeforeValidator(any_name),
]
AskingThread = Annotated[
    str | None,
    Query(
        pattern=_PATTERN, description="the thread that the model is in; its memory mode may limit the search to itself"
    ),
    BeforeValidator(any_name),
]
Also = Annotated[
    tuple[Annotated[str, StringConstraints(pattern=_PATTERN), BeforeValidator(any_name)], ...],
    Query(
        max_length=8, description="other resources whose notes count too, beside what `compose` says; may be repeated"
    ),
    FirstFault(),
]
ObservationId = Annotated[str, Path(pattern=_PATTERN, description="one observation")]
EntryId = Annotated[str, Path(pattern="^[0-9a-f]{12}$", description="one entry of the quarantine")]
Cursor = Annotated[str | None, Query(max_length=1_000, description="`next` of the page before; none: the first page")]
Limit = Annotated[int, Query(ge=1, le=MAX_PAGE, description="most entries of the page")]
DEFAULT = PAGE


Partial = str | msgspec.UnsetType


class Page(msgspec.Struct, Generic[T], frozen=True):
    """Some entries of a list, in a lasting order; `next` is the cursor of the page behind, null on the last one.

    `partial` is there where what was archived is not among them, and says why.
    """

    items: list[T]
    next: str | None = None
    partial: Partial = msgspec.UNSET


class PageRequest(NamedTuple):
    """Which page is asked for: what stands behind a place, and at most so many entries."""

    after: str
    limit: int

    def of(self, entries: Iterable[T], place: Callable[[T], str], partial: str = "") -> Page[T]:
        """That page of entries in any order; no two share a place. `partial` says why what was archived is not among them."""
        rest = sorted((entry for entry in entries if place(entry) > self.after), key=place)
        return self.first(rest, place, partial)

    def first(self, rest: list[T], place: Callable[[T], str], partial: str = "") -> Page[T]:
        """That page of what is left, which is in order already; one more than `limit` says that there is a next one."""
        shown = rest[: self.limit]
        following = cursor_of(place(shown[-1])) if len(rest) > self.limit else None
        return Page(shown, following, partial or msgspec.UNSET)


async def asked_page(cursor: Cursor = None, limit: Limit = DEFAULT) -> PageRequest:
    """The page that a request asks for; raises InvalidInputError for a cursor that we never gave."""
    return PageRequest(_read(cursor or ""), limit)


WhichPage = Annotated[PageRequest, Depends(asked_page)]


def cursor_of(place: str) -> str:
    """The cursor of the page behind a place."""
    return base64.urlsafe_b64encode(place.encode()).decode().rstrip("=")


def _read(cursor: str) -> str:
    try:
        return base64.b64decode(cursor + "=" * (-len(cursor) % 4), b"-_", validate=True).decode()
    except (binascii.Error, ValueError):
        raise InvalidInputError(
            f"cursor {cursor[:40]!r} is none of ours: leave it out to begin at the first page"
        ) from None

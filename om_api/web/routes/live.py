"""Events as they happen: as rows of a page, and as what makes other pages look again."""

from collections.abc import Awaitable, Callable, Sequence
from typing import Annotated

import msgspec
from fastapi import APIRouter, Query, Request, Response
from starlette.responses import StreamingResponse

from om_api.domain.api_keys import EVERY, Role
from om_api.domain.errors import OMError
from om_api.domain.events import GAP, KINDS, Event, Wanted
from om_api.domain.values import ID_PATTERN
from om_api.http.requests.app_state import app_state
from om_api.http.requests.guard import admit, bound, key_of
from om_api.http.requests.parameters import ResourceId
from om_api.web.pages import live
from om_api.web.pages.page_route import PageRoute, shown_proof, shows
from om_api.web.pages.reader import reader, reader_of
from om_api.web.pages.rendering import page, rendered

router = APIRouter(route_class=PageRoute)
_SHOWN = 100
_HEADERS = {"Cache-Control": "no-store", "X-Accel-Buffering": "no"}
Whose = Annotated[str, Query(pattern=f"^({ID_PATTERN.pattern})?$")]
Since = Annotated[int, Query(ge=0, lt=2**53)]
Kind = Annotated[str, Query(max_length=40)]


@router.get("/live", **shows())
async def show_live(request: Request, resource: Whose = "", kind: Kind = "") -> Response:
    """The newest events, and those that come."""
    return await _events(request, "live.html", resource, kind)


@router.get("/agents/{resource}/events", **shows())
async def show_events(request: Request, resource: ResourceId, kind: Kind = "") -> Response:
    """The same of one agent."""
    await reader_of(request, resource)
    return await _events(request, "live.html", resource, kind)


async def _events(request: Request, template: str, resource: str, kind: str) -> Response:
    wanted = _wanted(request, resource, kind)
    told = await reader(request).events(kinds=wanted.kinds, resource_id=wanted.resources, count=_SHOWN)
    newest = [(event, _details(event)) for event in reversed(told.events)]
    return page(request, template, resource=resource, kind=kind, kinds=[*KINDS], events=newest)


@router.get("/live/rows", **shows())
async def stream_rows(request: Request, resource: Whose = "", kind: Kind = "") -> Response:
    """Each event as a row of the table, as it comes."""
    wanted = _wanted(request, resource, kind)

    def written(events: Sequence[Event]) -> tuple[bytes, bool]:
        rows = [
            rendered("event_row.html", event=event, details=_details(event)) for event in events if wanted.takes(event)
        ]
        return _message("".join(reversed(rows))) if rows else b"", False

    return _stream(request, resource, written)


@router.get("/live/changes", **shows())
async def stream_changes(request: Request, resource: Whose = "", since: Since = 0) -> Response:
    """That something of an agent, or of any, changed; and whether the store is away.

    `since` (Unix ms) is when the page was written: what happened before it began to listen, or while it did not, counts too.
    """
    wanted = _wanted(request, resource, "")
    source: live.Live = request.app.state.live
    away = False

    def written(events: Sequence[Event]) -> tuple[bytes, bool]:
        nonlocal away
        turned, away = source.away != away, source.away
        said = _message("", "om-away" if away else "om-back") if turned else b""
        return said, turned or any(map(wanted.takes, events))

    return _stream(request, resource, written, lambda: _happened(request, wanted, since))


async def _happened(request: Request, wanted: Wanted, since: int) -> bool:
    """Whether anything that is wanted happened since a time, or may have: the store could not be asked."""
    try:
        told = await reader(request).events(str(since), kinds=wanted.kinds, resource_id=wanted.resources, count=2)
    except OMError:
        return True
    # a time behind the last event is no place to go on from: what stands before it is told once more
    return any(event.kind != GAP and event.at >= since for event in told.events)


def _stream(
    request: Request, resource: str, written: live.Written, missed: Callable[[], Awaitable[bool]] | None = None
) -> Response:
    async def may() -> None:
        request.state.proof = await shown_proof(request)
        await admit(request, Role.READER)
        _wanted(request, resource, "")

    hub, key = request.app.state.live, key_of(request).id
    hub.check_room(key)  # once the stream has begun, nobody can be refused
    lines = live.stream(hub, app_state(request).streams, may, written, missed, key)
    return StreamingResponse(lines, headers=_HEADERS, media_type="text/event-stream")


def _message(data: str, name: str = "") -> bytes:
    lines = "".join(f"data: {line}\n" for line in data.split("\n"))
    return f"{f'event: {name}' + chr(10) if name else ''}{lines}\n".encode()


def _wanted(request: Request, resource: str, kind: str) -> Wanted:
    """Whose events a key may see of those asked for; raises HTTPException 403 for others'."""
    key = key_of(request)
    if resource:
        bound(key, resource)
    whose = [resource] if resource else [] if EVERY in key.resources else [*key.resources]
    return Wanted.of([kind] if kind else [], whose)


def _details(event: Event) -> list[tuple[str, str]]:
    """What an event carries beside its kind, its time and whose it is."""
    told = msgspec.to_builtins(event)
    return [(name, str(value)) for name, value in told.items() if name not in {"kind", "id", "at", "resource"}]

"""What happens to memories: as a stream of server-sent events, or a page at a time."""

from functools import partial
from typing import Annotated

import msgspec
from fastapi import APIRouter, Header, Query, Request, Response

from om_api.domain.api_keys import Role
from om_api.domain.events import KINDS, Event, Told
from om_api.domain.requests.request_model import FirstFault
from om_api.http.requests import examples
from om_api.http.requests.app_state import app_state, memory
from om_api.http.requests.guard import admit, key_of, needs, whose
from om_api.http.requests.parameters import DEFAULT, Limit
from om_api.http.requests.replies import answers, reply
from om_api.http.routes.stream_tokens import GivenToken, Watched
from om_api.http.serving.limits import LOOK_S
from om_api.http.serving.shares import SHARE
from om_api.http.serving.streams import Stream, lines, written

router = APIRouter(prefix="/v1", tags=["events"], route_class=Watched)
_SSE = "text/event-stream"
_LONGEST_ID = 41
Kinds = Annotated[
    list[str],
    Query(max_length=len(KINDS), description=f"any of {', '.join(KINDS)}; repeatable; else all"),
    FirstFault(),
]
Resources = Annotated[
    list[str], Query(max_length=100, description="whose; repeatable; else all that the key is bound to"), FirstFault()
]
After = Annotated[
    str,
    Query(max_length=_LONGEST_ID, description="begin behind this event's id, or these Unix ms; 0: all that are kept"),
]
LastEventId = Annotated[
    str, Header(max_length=_LONGEST_ID, description="the same, as a browser says it when it comes back; goes first")
]


class EventPage(msgspec.Struct, frozen=True):
    """Events, oldest first, and the id to read on `after`, which is further than the last one where others were left out."""

    items: list[Event]
    after: str


_SAID = answers(EventPage, EventPage([examples.EVENT], examples.EVENT.id))
_SAID["responses"][200]["content"][_SSE] = {"schema": {"type": "string"}, "example": written(examples.EVENT).decode()}


@router.get("/events", **needs(Role.READER), **_SAID)
async def get_events(
    request: Request,
    kinds: Kinds = [],  # noqa: B006 - FastAPI copies it
    resource: Resources = [],  # noqa: B006 - same
    after: After = "",
    limit: Limit = DEFAULT,
    last_event_id: LastEventId = "",
    token: GivenToken = "",  # noqa: ARG001 - the guard has looked at it
) -> Response:
    """What happened, of the resources that the key is bound to: a page of it, or with `Accept: text/event-stream` as it comes.

    A page without `after` holds the newest events; a stream without it begins now. Whoever can send no header shows a
    `token`; once that has expired, coming back with `Last-Event-ID` is refused too (401): ask for another one.
    """
    read = partial(memory(request).events, kinds=kinds, resource_id=whose(key_of(request), resource))
    place = last_event_id or after
    told = await read(place, count=limit)
    if _SSE not in request.headers.get("accept", ""):
        return reply(EventPage(*told))

    async def may() -> None:
        await admit(request, Role.READER)
        whose(key_of(request), resource)

    begun = told if place else Told([], told.after)
    streams, lane = app_state(request).streams, SHARE.get().lane
    streams.take(lane)
    return Stream(streams, lane, lines(streams, partial(read, wait=LOOK_S), may, begun))

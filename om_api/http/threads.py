"""A resource's threads, and ending one."""

import msgspec
from fastapi import APIRouter, Request, Response

from om_api.api_keys import Role
from om_api.http import examples
from om_api.http.guard import Guarded, needs
from om_api.http.house import memory
from om_api.http.ids import ResourceId, ThreadId
from om_api.http.pages import DEFAULT, Cursor, Limit, Page, first, read
from om_api.http.replies import answers, reply
from om_api.store.clearing import Cleared
from om_api.values import Outcome, ThreadState

router = APIRouter(prefix="/v1/resources/{resource}/threads", tags=["threads"], route_class=Guarded)


class Ended(msgspec.Struct, frozen=True):
    """What was removed; `merged` names the observations that a reflection holds beyond recognition."""

    outcome: Outcome
    messages: int
    observations: int
    merged: tuple[str, ...]


ENDED = Ended(*examples.CLEARED)


def ended(cleared: Cleared) -> Response:
    """What clearing did, as a reply."""
    return reply(Ended(*cleared))


@router.get("", openapi_extra=needs(Role.READER), responses=answers(Page[ThreadState], Page([examples.THREAD])))
async def list_threads(
    request: Request, resource: ResourceId, cursor: Cursor = None, limit: Limit = DEFAULT
) -> Response:
    """Threads by name: what is not yet observed of each, its current task, the suggested response."""
    found = await memory(request).threads(resource, after=read(cursor), limit=limit + 1)
    return reply(first(found, lambda thread: thread.id, limit))


@router.delete("/{thread}", openapi_extra=needs(Role.OPERATOR), responses=answers(Ended, ENDED))
async def clear_thread(request: Request, resource: ResourceId, thread: ThreadId) -> Response:
    """Remove a thread: its messages, chunks and observations, and its sections of the reflection in force."""
    return ended(await memory(request).clear(resource, thread))

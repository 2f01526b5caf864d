"""A resource's threads, and ending one."""

import msgspec
from fastapi import APIRouter, Request, Response

from om_api.domain.api_keys import Role
from om_api.domain.values import Outcome, ThreadState
from om_api.http.requests import examples
from om_api.http.requests.app_state import memory
from om_api.http.requests.guard import Guarded, needs
from om_api.http.requests.parameters import Page, ResourceId, ThreadId, WhichPage
from om_api.http.requests.replies import answers, reply
from om_api.store.memory.clear import Cleared

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


@router.get("", **needs(Role.READER), **answers(Page[ThreadState], Page([examples.THREAD])))
async def list_threads(request: Request, resource: ResourceId, page: WhichPage) -> Response:
    """Threads by name: what is not yet observed of each, its current task, the suggested response."""
    found = await memory(request).threads(resource, after=page.after, limit=page.limit + 1)
    return reply(page.first(found, lambda thread: thread.id))


@router.delete("/{thread}", **needs(Role.OPERATOR), **answers(Ended, ENDED))
async def clear_thread(request: Request, resource: ResourceId, thread: ThreadId) -> Response:
    """Remove a thread: its messages, chunks and observations, and its sections of the reflection in force."""
    return ended(await memory(request).clear(resource, thread))

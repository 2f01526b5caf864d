"""Resources and their threads: who has a memory, how full it is, and ending it or a thread of it."""

from typing import Annotated

import msgspec
from fastapi import APIRouter, Query, Request, Response

from om_api.client.stats import Stats
from om_api.domain.api_keys import Role
from om_api.domain.errors import InvalidInputError
from om_api.domain.values import Outcome, Record
from om_api.http.requests import examples
from om_api.http.requests.app_state import memory, memory_of
from om_api.http.requests.guard import Guarded, key_of, needs
from om_api.http.requests.parameters import OfThread, Page, ResourceId, ThreadId, WhichPage
from om_api.http.requests.replies import answers, reply
from om_api.store.memory.clear import Cleared

threads = APIRouter(prefix="/v1/resources/{resource}/threads", tags=["threads"], route_class=Guarded)
router = APIRouter(prefix="/v1/resources", tags=["resources"], route_class=Guarded)


class Ended(msgspec.Struct, frozen=True):
    """What was removed; `merged` names the observations that a reflection holds beyond recognition."""

    outcome: Outcome
    messages: int
    observations: int
    merged: tuple[str, ...]


_ENDED = Ended(*examples.CLEARED)


def _ended(cleared: Cleared) -> Response:
    return reply(Ended(*cleared))


@threads.delete("/{thread}", **needs(Role.OPERATOR, audited="cleared"), **answers(Ended, _ENDED))
async def clear_thread(request: Request, resource: ResourceId, thread: ThreadId) -> Response:
    """Remove a thread: its messages, chunks and observations, and its sections of the reflection in force."""
    return _ended(await (await memory_of(request, resource, thread)).clear(resource, thread))


@router.get("", **needs(Role.READER), **answers(Page[str], Page(["harold"])))
async def list_resources(request: Request, page: WhichPage) -> Response:
    """The names of the resources that the workers have met, as far as the key is bound to them."""
    key = key_of(request)
    names = [name for name in await memory(request).resources() if key.covers(name)]
    return reply(page.of(names, str))


@router.get("/{resource}/stats", **needs(Role.READER), **answers(Stats, examples.STATS))
async def get_stats(request: Request, resource: ResourceId) -> Response:
    """How full a memory is: tokens by tier, thresholds, chunks, what is due."""
    return reply(await (await memory_of(request, resource)).stats(resource))


@router.get("/{resource}/record", **needs(Role.READER), **answers(Record, examples.RECORD))
async def get_record(request: Request, resource: ResourceId, thread_id: OfThread = None) -> Response:
    """A scope's bookkeeping; where each thread has a memory of its own, `thread_id` must be given."""
    return reply(await (await memory_of(request, resource, thread_id)).record(resource, thread_id))


@router.delete("/{resource}", **needs(Role.OPERATOR, audited="cleared"), **answers(Ended, _ENDED))
async def clear_resource(
    request: Request,
    resource: ResourceId,
    confirm: Annotated[
        str, Query(description="the resource once more, since its whole memory goes", examples=["harold"])
    ],
) -> Response:
    """Remove a resource's whole memory, in one step.

    `confirm` must name the resource once more: a path that ends in `threads` and two dots, which most clients resolve before they
    send it, would otherwise end here, and remove more than was meant.
    """
    if confirm != resource:
        raise InvalidInputError(
            f"to remove the whole memory of {resource}, say ?confirm={resource}; nothing was removed"
        )
    return _ended(await (await memory_of(request, resource)).clear(resource))

"""Resources: who has a memory, how full it is, what its settings are, and ending it."""

from typing import Annotated

from fastapi import APIRouter, Query, Request, Response

from om_api.client.stats import Stats
from om_api.domain.api_keys import Role
from om_api.domain.errors import InvalidInputError
from om_api.domain.values import Record
from om_api.http.requests import examples
from om_api.http.requests.app_state import app_state, memory
from om_api.http.requests.guard import Guarded, key_of, needs
from om_api.http.requests.parameters import OfThread, Page, ResourceId, WhichPage
from om_api.http.requests.replies import answers, reply
from om_api.http.routes.threads import ENDED, Ended, ended
from om_api.settings.effective import Setting, rows

router = APIRouter(prefix="/v1/resources", tags=["resources"], route_class=Guarded)


_SETTINGS = [Setting("message_threshold", 30_000, "default", "tokens")]


@router.get("", **needs(Role.READER), **answers(Page[str], Page(["harold"])))
async def list_resources(request: Request, page: WhichPage) -> Response:
    """The names of the resources that the workers have met, as far as the key is bound to them."""
    key = key_of(request)
    names = [name for name in await memory(request).resources() if key.covers(name)]
    return reply(page.of(names, str))


@router.get("/{resource}/stats", **needs(Role.READER), **answers(Stats, examples.STATS))
async def get_stats(request: Request, resource: ResourceId) -> Response:
    """How full a memory is: tokens by tier, thresholds, chunks, what is due."""
    return reply(await memory(request).stats(resource))


@router.get("/{resource}/record", **needs(Role.READER), **answers(Record, examples.RECORD))
async def get_record(request: Request, resource: ResourceId, thread_id: OfThread = None) -> Response:
    """A scope's bookkeeping; where each thread has a memory of its own, `thread_id` must be given."""
    return reply(await memory(request).record(resource, thread_id))


@router.get("/{resource}/settings", **needs(Role.OPERATOR), **answers(list[Setting], _SETTINGS))
async def get_settings(request: Request, resource: ResourceId) -> Response:
    """The settings of this server for an agent, and where each value comes from; no password is among them."""
    return reply(rows(app_state(request).settings, resource))


@router.delete("/{resource}", **needs(Role.OPERATOR), **answers(Ended, ENDED))
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
    return ended(await memory(request).clear(resource))

"""The quarantine: what could not be accepted or observed, and what becomes of it."""

import msgspec
from fastapi import APIRouter, Request, Response

from om_api.domain.api_keys import Role
from om_api.domain.values import Outcome
from om_api.http.requests import examples
from om_api.http.requests.app_state import memory, memory_of
from om_api.http.requests.guard import Guarded, key_of, needs
from om_api.http.requests.parameters import EntryId, Page, ResourceId, WhichPage
from om_api.http.requests.replies import Done, answers, rendered, reply
from om_api.store.memory.quarantine import Rejected

router = APIRouter(prefix="/v1", tags=["quarantine"], route_class=Guarded)
_OF_RESOURCE = "/resources/{resource}/rejected"


class Count(msgspec.Struct, frozen=True):
    """How many entries a resource's quarantine has."""

    resource: str
    rejected: int


@router.get("/rejected", **needs(Role.OPERATOR), **answers(Page[Count], Page([Count("harold", 2)])))
async def count_rejected(request: Request, page: WhichPage) -> Response:
    """Which resources have entries, as far as the key is bound to them."""
    found, key = await memory(request).rejected_counts(), key_of(request)
    counts = [Count(name, entries) for name, entries in found.items() if key.covers(name)]
    return reply(page.of(counts, lambda count: count.resource))


@router.get(_OF_RESOURCE, **needs(Role.OPERATOR), **answers(Page[Rejected], Page([examples.REJECTED])))
async def list_rejected(request: Request, resource: ResourceId, page: WhichPage) -> Response:
    """A resource's entries, oldest first, each with the message as it was written and the reason."""
    found = await memory(request).rejected(resource)
    return await rendered(lambda: page.of(found, lambda entry: f"{entry.at:015}|{entry.id}"))


@router.post(
    f"{_OF_RESOURCE}/{{entry}}/retry", **needs(Role.OPERATOR, audited="retried"), **answers(Done, Done(Outcome.SEALED))
)
async def retry_rejected(request: Request, resource: ResourceId, entry: EntryId) -> Response:
    """Give a message another chance: `sealed`, `busy`, or `superseded` when there is no such entry (any more)."""
    return reply(Done(await (await memory_of(request, resource)).retry_rejected(resource, entry)))


@router.delete(
    f"{_OF_RESOURCE}/{{entry}}", **needs(Role.OPERATOR, audited="dropped"), **answers(Done, Done(Outcome.CLEARED))
)
async def drop_rejected(request: Request, resource: ResourceId, entry: EntryId) -> Response:
    """Remove an entry and nothing else: `cleared`, or `superseded` when there is none (any more)."""
    return reply(Done(await (await memory_of(request, resource)).drop_rejected(resource, entry)))

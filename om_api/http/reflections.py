"""Tier 3: the generations of a resource's reflected memory, and what each of them replaced."""

import hashlib
from typing import Annotated

from fastapi import APIRouter, Path, Request, Response

from om_api.api_keys import Role
from om_api.http import examples
from om_api.http.guard import Guarded, needs
from om_api.http.house import memory
from om_api.http.ids import OfThread, ResourceId
from om_api.http.pages import DEFAULT, Cursor, Limit, Page, page
from om_api.http.replies import Done, answers, rendered, reply
from om_api.values import Generation, Observation, Outcome

router = APIRouter(prefix="/v1/resources/{resource}/reflections", tags=["reflections"], route_class=Guarded)
_MOST = 1_000_000_000
Number = Annotated[int, Path(ge=0, le=_MOST, description="a generation's number; 0 is the time before the first")]
_REPLACED = answers(Page[Observation], Page([examples.OBSERVATION]))


def _place(generation: Generation) -> str:
    # in thread scope generations of several threads have one number
    mark = hashlib.sha256(generation.text.encode()).hexdigest()[:12]
    return f"{generation.created_at:015}|{generation.n:010}|{mark}"


@router.get("", openapi_extra=needs(Role.READER), responses=answers(Page[Generation], Page([examples.GENERATION])))
async def list_reflections(
    request: Request,
    resource: ResourceId,
    thread_id: OfThread = None,
    cursor: Cursor = None,
    limit: Limit = DEFAULT,
) -> Response:
    """Generations, oldest first; the one with the highest `n` (of a thread, in thread scope) is in force."""
    found = await memory(request).generations(resource, thread_id)
    return await rendered(lambda: page(found, _place, cursor, limit))


@router.get(
    "/{n}/observations",
    openapi_extra=needs(Role.READER),
    responses=_REPLACED,
)
async def list_replaced(
    request: Request,
    resource: ResourceId,
    n: Number,
    thread_id: OfThread = None,
    cursor: Cursor = None,
    limit: Limit = DEFAULT,
) -> Response:
    """The observations that a generation replaced, by id; none once they have expired."""
    found = await memory(request).replaced(n, resource, thread_id)
    return await rendered(lambda: page(found, lambda observation: observation.id, cursor, limit))


@router.post("/{n}/restore", openapi_extra=needs(Role.OPERATOR), responses=answers(Done, Done(Outcome.RESTORED)))
async def restore(request: Request, resource: ResourceId, n: Number, thread_id: OfThread = None) -> Response:
    """Undo reflections: make the text of an earlier generation the next one.

    Observations that it does not stand for are in force again. `rest` when it is in force already, `superseded` when the
    memory changed meanwhile: repeat then. Where each thread has a memory of its own, `thread_id` must be given.
    """
    return reply(Done(await memory(request).restore(resource, n, thread_id)))

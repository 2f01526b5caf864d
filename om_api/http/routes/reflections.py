"""Tier 3: the generations of a resource's reflected memory, what each of them replaced, and what was set aside in groups."""

import hashlib
from typing import Annotated

from fastapi import APIRouter, Path, Query, Request, Response

from om_api.domain.api_keys import Role
from om_api.domain.notes.groups import ALL, NoteGroup
from om_api.domain.values import Generation, Observation, Outcome
from om_api.http.requests import examples
from om_api.http.requests.app_state import memory, memory_of
from om_api.http.requests.guard import Guarded, needs
from om_api.http.requests.parameters import OfThread, Page, ResourceId, WhichPage
from om_api.http.requests.replies import Done, answers, rendered, reply

router = APIRouter(prefix="/v1/resources/{resource}", tags=["reflections"], route_class=Guarded)
_MOST = 1_000_000_000
GroupName = Annotated[str, Path(max_length=40, description="the name in brackets of a heading", examples=["k3fq7a2m"])]
Within = Annotated[
    str, Query(max_length=40, description="those that begin in a month (2026-03) or a year; all", examples=["2026-03"])
]
Number = Annotated[int, Path(ge=0, le=_MOST, description="a generation's number; 0 is the time before the first")]


def _place(generation: Generation) -> str:
    # in thread scope generations of several threads have one number
    mark = hashlib.sha256(generation.text.encode()).hexdigest()[:12]
    return f"{generation.created_at:015}|{generation.n:010}|{mark}"


@router.get("/reflections", **needs(Role.READER), **answers(Page[Generation], Page([examples.GENERATION])))
async def list_reflections(
    request: Request, resource: ResourceId, page: WhichPage, thread_id: OfThread = None
) -> Response:
    """Generations, oldest first; the one with the highest `n` (of a thread, in thread scope) is in force."""
    found = await memory(request).generations(resource, thread_id)
    return await rendered(lambda: page.of(found, _place, found.partial))


@router.get(
    "/reflections/{n}/observations", **needs(Role.READER), **answers(Page[Observation], Page([examples.OBSERVATION]))
)
async def list_replaced(
    request: Request, resource: ResourceId, n: Number, page: WhichPage, thread_id: OfThread = None
) -> Response:
    """The observations that a generation replaced, by id; none once they have expired."""
    found = await memory(request).replaced(n, resource, thread_id)
    return await rendered(lambda: page.of(found, lambda observation: observation.id, found.partial))


@router.post(
    "/reflections/{n}/restore", **needs(Role.OPERATOR, audited="restored"), **answers(Done, Done(Outcome.RESTORED))
)
async def restore(request: Request, resource: ResourceId, n: Number, thread_id: OfThread = None) -> Response:
    """Undo reflections: make the text of an earlier generation the next one.

    Observations that it does not stand for are in force again. `rest` when it is in force already, `superseded` when the
    memory changed meanwhile: repeat then. Where each thread has a memory of its own, `thread_id` must be given.
    """
    return reply(Done(await (await memory_of(request, resource)).restore(resource, n, thread_id)))


@router.get("/groups", **needs(Role.READER), **answers(Page[NoteGroup], Page([examples.GROUP])))
async def list_groups(
    request: Request, resource: ResourceId, page: WhichPage, thread_id: OfThread = None, within: Within = ALL
) -> Response:
    """The groups of notes that were set aside (`reflection.mode: archive`), oldest first, with their headings."""
    found = await memory(request).groups(resource, thread_id, within=within)
    return await rendered(lambda: page.of(found, _place_of, found.partial))


@router.get("/groups/{group}", **needs(Role.READER), **answers(Page[Observation], Page([examples.SET_ASIDE])))
async def read_group(
    request: Request, resource: ResourceId, group: GroupName, page: WhichPage, thread_id: OfThread = None
) -> Response:
    """The notes of one group, word for word, by id. 404 where nothing is kept under that name."""
    found = await memory(request).group(group, resource, thread_id)
    return await rendered(lambda: page.of(found, lambda observation: observation.id, found.partial))


def _place_of(group: NoteGroup) -> str:
    return f"{group.from_:015}|{group.id}"

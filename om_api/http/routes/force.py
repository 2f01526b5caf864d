"""Asking the workers: observe now, reflect now, pause, resume."""

from collections.abc import Awaitable, Callable
from contextlib import suppress
from functools import partial
from typing import Annotated

import msgspec
from fastapi import APIRouter, Body, Depends, Query, Request, Response
from pydantic import Field

from om_api.client.held import Held
from om_api.domain.api_keys import Role
from om_api.domain.errors import StoreError
from om_api.domain.requests.request_model import RequestModel
from om_api.domain.values import ID_PATTERN, Outcome
from om_api.http.requests.app_state import app_state, memory, memory_of
from om_api.http.requests.auditing import audit_as
from om_api.http.requests.guard import Guarded, needs
from om_api.http.requests.parameters import ResourceId
from om_api.http.requests.replies import Done, answers, reply
from om_api.http.serving.limits import MAX_WAIT_S

router = APIRouter(prefix="/v1/resources/{resource}", tags=["workers"], route_class=Guarded)


class WorkRequest(RequestModel):
    """Of which thread (else of all), and how long the answer is waited for (else not at all)."""

    thread_id: str | None = Field(default=None, pattern=f"^{ID_PATTERN.pattern}$")
    wait: float = Field(default=0, ge=0, le=MAX_WAIT_S, description="seconds")


Given = Annotated[WorkRequest | None, Body(openapi_examples={"wait": {"value": {"thread_id": "thread-1", "wait": 30}}})]
Create = Annotated[
    bool, Query(description="also pause a resource of which nothing is kept yet, before its first message")
]


async def _asked(given: Given = None) -> WorkRequest:
    """What is asked for; no body asks for all threads, and waits for nothing."""
    return given or WorkRequest()


Asked = Annotated[WorkRequest, Depends(_asked)]


class Forced(msgspec.Struct, frozen=True, omit_defaults=True):
    """The word that what was asked for ended with; of one that is `busy`, why it is held, if it is, and until when (Unix ms)."""

    outcome: Outcome
    reason: str = ""
    until: int | None = None


_HELD = Forced(Outcome.BUSY, "the budget of harold is used up (budget.calls_per_day)", 1_763_683_200_000)


@router.post("/observe", **needs(Role.WRITER, waits=True, audited="forced"), **answers(Forced, _HELD))
async def observe(request: Request, resource: ResourceId, asked: Asked) -> Response:
    """Observe all raw messages now.

    `activated`: done. `rest`: there were none. `busy`: not done yet. `superseded`: the memory was cleared meanwhile.
    """
    audit_as(request, of="observe", thread=asked.thread_id or "")
    om = await memory_of(request, resource, asked.thread_id)
    ask = partial(om.force_observe, asked.thread_id, resource)
    return await _answered(request, asked.wait, ask, partial(om.held, resource, "observe"))


@router.post(
    "/reflect", **needs(Role.WRITER, waits=True, audited="forced"), **answers(Forced, Forced(Outcome.REFLECTED))
)
async def reflect(request: Request, resource: ResourceId, asked: Asked) -> Response:
    """Have the observations condensed now: `reflected`, `rest` when there are none, `busy` when it is not done yet."""
    audit_as(request, of="reflect", thread=asked.thread_id or "")
    om = await memory_of(request, resource, asked.thread_id)
    ask = partial(om.force_reflect, resource, asked.thread_id)
    return await _answered(request, asked.wait, ask, partial(om.held, resource, "reflect"))


async def _answered(
    request: Request,
    wait: float,
    ask: Callable[[float | None], Awaitable[Outcome]],
    held: Callable[[], Awaitable[Held | None]],
) -> Response:
    """What it ended with; a process that is told to stop waits no longer, and says how far it is."""
    try:
        async with app_state(request).stopping.ends():
            outcome = await ask(wait)
    except TimeoutError:
        outcome = await ask(None)
    why = None
    with suppress(StoreError):  # what was asked for stands
        why = await held() if outcome is Outcome.BUSY else None
    return reply(Forced(outcome, why.reason, why.until) if why else Forced(outcome))


@router.post("/pause", **needs(Role.OPERATOR, audited="paused"), **answers(Done, Done(Outcome.REST)))
async def pause(request: Request, *, resource: ResourceId, create: Create = False) -> Response:
    """Stop whatever calls a model for a resource; messages are kept, ready chunks and contexts served."""
    om = memory(request) if create else await memory_of(request, resource)
    return reply(Done(await om.pause(resource)))


@router.post("/resume", **needs(Role.OPERATOR, audited="resumed"), **answers(Done, Done(Outcome.REST)))
async def resume(request: Request, resource: ResourceId) -> Response:
    """Let a paused resource go on."""
    return reply(Done(await (await memory_of(request, resource)).resume(resource)))

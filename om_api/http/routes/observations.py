"""Tier 2: a resource's observations, and the messages behind one."""

from typing import Annotated, Any

import msgspec
from fastapi import APIRouter, Query, Request, Response

from om_api.client.async_memory import AsyncObservationalMemory
from om_api.domain.api_keys import Role
from om_api.domain.errors import NotFoundError
from om_api.domain.messages import Message
from om_api.domain.values import Observation, Outcome
from om_api.http.requests import examples
from om_api.http.requests.app_state import memory, memory_of
from om_api.http.requests.guard import Guarded, needs
from om_api.http.requests.parameters import ObservationId, OfThread, Page, ResourceId, WhichPage
from om_api.http.requests.replies import Done, answers, rendered, reply


class KeptMessage(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """A stored message; `at` is the Unix ms by which it is ordered, `name` its speaker, if it has one."""

    id: str
    role: str
    content: str | list[dict[str, Any]]
    at: int
    timestamp: str | int | float | None
    tokens: int | None
    metadata: dict[str, Any] | None
    name: str | None = None


def kept_message(message: Message) -> KeptMessage:
    """What is shown of a message."""
    return KeptMessage(**{name: getattr(message, name) for name in KeptMessage.__struct_fields__})


_MESSAGE = KeptMessage(
    id="m-1",
    role="user",
    content="My flight is on Friday.",
    at=1_763_630_400_000,
    timestamp="2026-11-20T09:30:00Z",
    tokens=10,
    metadata=None,
)
OnlyMarked = Annotated[bool, Query(description="only those with lines that are marked")]
router = APIRouter(prefix="/v1/resources/{resource}/observations", tags=["observations"], route_class=Guarded)


@router.get("", **needs(Role.READER), **answers(Page[Observation], Page([examples.OBSERVATION])))
async def list_observations(
    request: Request, resource: ResourceId, page: WhichPage, thread_id: OfThread = None, *, marked: OnlyMarked = False
) -> Response:
    """Observations in force, by id, which is by the time when their messages were sealed.

    `marked` counts the lines of one that only quote what somebody said: they are no orders and no facts about the user.
    """
    found = [each for each in await memory(request).observations(resource, thread_id) if each.marked or not marked]
    return await rendered(lambda: page.of(found, lambda observation: observation.id))


@router.get("/{observation}/messages", **needs(Role.READER), **answers(Page[KeptMessage], Page([_MESSAGE])))
async def list_sources(request: Request, resource: ResourceId, observation: ObservationId, page: WhichPage) -> Response:
    """The messages behind an observation, oldest first; none once they have expired."""
    found = await memory(request).sources(observation, resource)
    if not found:
        await _check_known(memory(request), resource, observation)
    return await rendered(lambda: page.of(map(kept_message, found), _place, found.partial))


def _place(message: KeptMessage) -> str:
    return f"{message.at:015}|{message.id}"


async def _check_known(om: AsyncObservationalMemory, resource: str, observation: str) -> None:
    """Return for an observation that is in force, or that a generation which is kept replaced; else raise NotFoundError."""
    replaced = (each.observation_ids for each in await om.generations(resource))
    now = (each.id for each in await om.observations(resource))
    if not any(observation in names for names in (now, *replaced)):
        raise NotFoundError(
            f"{resource} has no observation {observation}, nor does a generation that is kept name it: "
            f"GET /v1/resources/{resource}/observations lists them"
        )


@router.delete("/{observation}", **needs(Role.OPERATOR, audited="forgot"), **answers(Done, Done(Outcome.CLEARED)))
async def forget(request: Request, resource: ResourceId, observation: ObservationId) -> Response:
    """Remove one observation and the messages behind it; of one that a reflection replaced also what generations tell of it."""
    return reply(Done(await (await memory_of(request, resource)).forget(observation, resource)))

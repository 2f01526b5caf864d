"""Tier 1: what of a thread is still raw, and what of it is sealed."""

from fastapi import APIRouter, Request, Response

from om_api.domain.api_keys import Role
from om_api.domain.values import SealedChunk
from om_api.http.requests.app_state import memory
from om_api.http.requests.guard import Guarded, needs
from om_api.http.requests.parameters import Page, ResourceId, ThreadId, WhichPage
from om_api.http.requests.replies import answers, rendered, reply
from om_api.http.routes.observations import KeptMessage, kept_message

router = APIRouter(prefix="/v1/resources/{resource}/threads/{thread}", tags=["messages"], route_class=Guarded)


_EXAMPLE = KeptMessage(
    id="m-3",
    role="user",
    content="Which airport?",
    at=1_763_630_460_000,
    timestamp="2026-11-20T09:31:00Z",
    tokens=6,
    metadata=None,
)
_CHUNK = SealedChunk(
    "0196f1c2a4b800000001a1b2c3d4e5f6", "thread-1", 23, 5_871, ready=False, attempts=1, sealed_at=1_763_630_460_000
)


@router.get("/chunks", **needs(Role.READER), **answers(Page[SealedChunk], Page([_CHUNK])))
async def list_chunks(request: Request, resource: ResourceId, thread: ThreadId, page: WhichPage) -> Response:
    """What of a thread is sealed and not activated yet, oldest first: being observed, or `ready` to be activated."""
    found = [SealedChunk.of(chunk) for chunk in await memory(request).chunks(resource, thread)]
    return reply(page.of(found, lambda chunk: f"{chunk.sealed_at:015}|{chunk.id}"))


@router.get("/messages", **needs(Role.READER), **answers(Page[KeptMessage], Page([_EXAMPLE])))
async def list_messages(request: Request, resource: ResourceId, thread: ThreadId, page: WhichPage) -> Response:
    """The messages of a thread that no observation took the place of yet, oldest first; its context shows them word for word.

    Older ones are behind observations: `GET /v1/resources/{resource}/observations/{observation}/messages`.
    """
    found = await memory(request).messages(resource, thread)
    return await rendered(lambda: page.of(map(kept_message, found), lambda message: f"{message.at:015}|{message.id}"))

"""Threads: listed in an order, named, archived, copied, and what other names stand for them."""

from typing import Annotated, Any, Literal

import msgspec
from fastapi import APIRouter, Body, Path, Query, Request, Response
from pydantic import Field

from om_api.domain.api_keys import Role
from om_api.domain.requests.request_model import RequestModel
from om_api.domain.values import ID_PATTERN, MemoryMode, Outcome, ThreadState
from om_api.http.requests import examples
from om_api.http.requests.app_state import memory, memory_of
from om_api.http.requests.guard import Guarded, bound, key_of, needs
from om_api.http.requests.parameters import Page, ResourceId, ThreadId, WhichPage
from om_api.http.requests.replies import answers, reply
from om_api.store.threads.aliasing import Aliased
from om_api.store.threads.copying import Copied

router = APIRouter(prefix="/v1/resources/{resource}/threads", tags=["threads"], route_class=Guarded)
names = APIRouter(prefix="/v1/resources/{resource}/aliases", tags=["threads"], route_class=Guarded)
_ID = f"^{ID_PATTERN.pattern}$"
AliasId = Annotated[str, Path(pattern=_ID, description="a name that stands for a thread", examples=["chat-2"])]
Order = Annotated[Literal["name", "activity"], Query(description="by name, or those first that were heard of last")]
Archived = Annotated[
    Literal["no", "yes", "all"], Query(description="no: those that are not archived; yes: they alone; all: both")
]
_WHICH: dict[str, bool | None] = {"no": False, "yes": True, "all": None}


class Alias(msgspec.Struct, frozen=True):
    """A name, and the thread that it stands for."""

    alias: str
    thread_id: str


class Unaliased(msgspec.Struct, frozen=True):
    """`cleared`, or `rest` where it was no alias."""

    outcome: Outcome


class ThreadChange(RequestModel):
    """What is to be said of a thread; what is left out stays."""

    title: str | None = Field(
        None, description="one line of at most 200 characters; none: the Observer suggests one again"
    )
    metadata: dict[str, Any] | None = Field(None, description="an object of your own, of at most 4,096 bytes")
    archived: bool | None = Field(None, description="out of sight until it gets a message")
    memory: MemoryMode | None = Field(None, description="its memory mode, also before its first message")


class AliasOf(RequestModel):
    """What a name is to stand for."""

    thread_id: str = Field(pattern=_ID, description="a thread, or a name that stands for one")


class CopyWanted(RequestModel):
    """A copy that is wanted."""

    to: str = Field(pattern=_ID, description="the new thread")
    until: str | None = Field(
        None, pattern=_ID, description="the id of the last message that it has; else the last of all"
    )
    to_resource: str | None = Field(None, pattern=_ID, description="of another resource")


_CHANGE = {
    "title": {"value": {"title": "The roof"}},
    "archive": {"value": {"archived": True}},
    "mode": {"value": {"memory": "off"}},
}
_COPY = {"fork": {"value": {"to": "thread-1b", "until": "m-12"}}}
_OF = {"alias": {"value": {"thread_id": "thread-1"}}}
_ALIASED = Aliased(alias="chat-2", thread="thread-1", messages=3, known=1, observations=0)
_COPIED = Copied(thread_id="thread-1b", resource_id="harold", messages=12, message_id="m-12")


@router.get("", **needs(Role.READER), **answers(Page[ThreadState], Page([examples.THREAD])))
async def list_threads(
    request: Request, resource: ResourceId, page: WhichPage, order: Order = "name", archived: Archived = "no"
) -> Response:
    """Threads with what is not yet observed of each, title, metadata, current task and suggested response."""
    found = await memory(request).threads(
        resource, order=order, archived=_WHICH[archived], after=page.after, limit=page.limit + 1
    )
    return reply(page.first(found, lambda thread: thread.id if order == "name" else thread.place))


@router.patch("/{thread}", **needs(Role.WRITER, audited="thread_changed"), **answers(ThreadState, examples.THREAD))
async def change_thread(
    request: Request,
    resource: ResourceId,
    thread: ThreadId,
    wanted: Annotated[ThreadChange, Body(openapi_examples=_CHANGE)],
) -> Response:
    """Give a thread a title, metadata or a memory mode, or hide it until it gets a message. No suggestion replaces a title."""
    om = await memory_of(request, resource)
    return reply(await om.set_thread(resource, thread, **wanted.model_dump(), by=key_of(request).id))


@router.post("/{thread}/copies", **needs(Role.WRITER, audited="thread_copied"), **answers(Copied, _COPIED))
async def copy_thread(
    request: Request,
    resource: ResourceId,
    thread: ThreadId,
    wanted: Annotated[CopyWanted, Body(openapi_examples=_COPY)],
) -> Response:
    """Make a thread that reads as this one does up to a message, and goes on by itself."""
    key, om = key_of(request), await memory_of(request, resource)
    bound(key, wanted.to_resource or resource)
    how = {"until": wanted.until, "to_resource": wanted.to_resource}
    return reply(await om.copy_thread(thread, wanted.to, resource, **how, pusher=key.pusher))


@names.get("", **needs(Role.READER), **answers(Page[Alias], Page([Alias("chat-2", "thread-1")])))
async def list_aliases(request: Request, resource: ResourceId, page: WhichPage) -> Response:
    """Names that stand for threads: whatever is written to or read of one is the thread's."""
    found = await memory(request).thread_aliases(resource)
    return reply(page.of((Alias(*each) for each in found.items()), lambda each: each.alias))


@names.put("/{alias}", **needs(Role.OPERATOR, audited="thread_aliased"), **answers(Aliased, _ALIASED))
async def alias_thread(
    request: Request, resource: ResourceId, alias: AliasId, wanted: Annotated[AliasOf, Body(openapi_examples=_OF)]
) -> Response:
    """Have a name stand for a thread: one conversation that changed its id. What it holds becomes the thread's."""
    om = await memory_of(request, resource)
    return reply(await om.alias_thread(alias, wanted.thread_id, resource))


@names.delete(
    "/{alias}", **needs(Role.OPERATOR, audited="thread_unaliased"), **answers(Unaliased, Unaliased(Outcome.CLEARED))
)
async def unalias_thread(request: Request, resource: ResourceId, alias: AliasId) -> Response:
    """End an alias. What came by it stays with the thread; its name is free again."""
    om = await memory_of(request, resource)
    return reply(Unaliased(await om.unalias_thread(alias, resource)))

"""Adding messages to a thread."""

from collections.abc import Iterator
from typing import Annotated, Any, Literal

import msgspec
from fastapi import APIRouter, Body, Request, Response
from pydantic import BaseModel, ConfigDict, Field

from om_api.api_keys import Role
from om_api.errors import InvalidInputError
from om_api.http.guard import Guarded, needs
from om_api.http.house import memory
from om_api.http.ids import ResourceId, ThreadId
from om_api.http.limits import MAX_BATCH, MAX_MESSAGE
from om_api.http.replies import answers, reply
from om_api.values import ID_PATTERN, MAX_TOKENS, Message, encode_message

router = APIRouter(prefix="/v1/resources/{resource}/threads/{thread}", tags=["messages"], route_class=Guarded)


class GivenMessage(BaseModel):
    """One turn. Give it an id: a repeated request then adds nothing that is there already."""

    model_config = ConfigDict(extra="forbid", strict=True)

    id: str | None = Field(None, pattern=f"^{ID_PATTERN.pattern}$", description="yours; else one is made")
    role: Literal["user", "assistant", "system", "tool"]
    content: str | list[dict[str, Any]] = Field(
        description="text, or parts with a type: text, tool-call, tool-result, image or file"
    )
    timestamp: str | int | float | None = Field(None, description="ISO 8601 or Unix time; else now")
    tokens: int | None = Field(None, ge=0, le=MAX_TOKENS, description="how long it is; else it is counted")
    metadata: dict[str, Any] | None = None
    tool_calls: list[dict[str, Any]] | None = Field(None, description="as chat completions APIs write them")
    tool_call_id: str | None = None
    name: str | None = None


class GivenMessages(BaseModel):
    """Messages of one thread, oldest first; all are added, or none."""

    model_config = ConfigDict(extra="forbid", strict=True)

    messages: list[GivenMessage] = Field(min_length=1, max_length=MAX_BATCH)


class Added(msgspec.Struct, frozen=True):
    """The ids the messages are kept under, how many were new, and which ids had been accepted before."""

    ids: list[str]
    added: int
    duplicates: list[str]


_EXAMPLE = {
    "messages": [
        {"id": "m-1", "role": "user", "content": "My flight is on Friday.", "timestamp": "2026-11-20T09:30:00Z"},
        {"id": "m-2", "role": "assistant", "content": "Noted: Friday."},
    ]
}


@router.post(
    "/messages",
    openapi_extra=needs(Role.WRITER),
    responses=answers(Added, Added(["m-1", "m-2"], 2, [])),
)
async def add_messages(
    request: Request,
    resource: ResourceId,
    thread: ThreadId,
    given: Annotated[GivenMessages, Body(openapi_examples={"two": {"value": _EXAMPLE}})],
) -> Response:
    """Keep messages of a thread, in one step.

    An id accepted in the last ten minutes adds nothing and is named in `duplicates`: repeat a request whose reply was
    lost, with the same ids. A 503 says in `stored` what became of it.
    """
    receipt = await memory(request).add_messages(_messages(given, resource, thread))
    return reply(Added(list(receipt.ids), receipt.added, list(receipt.duplicates)))


def _messages(given: GivenMessages, resource: str, thread: str) -> Iterator[Message]:
    for each in given.messages:
        message = Message(**{**each.model_dump(), "id": each.id or "", "thread_id": thread, "resource_id": resource})
        if (size := len(encode_message(message))) > MAX_MESSAGE:
            raise InvalidInputError(
                f"message {message.id} takes {size:,} bytes; permitted are {MAX_MESSAGE:,}: split it"
            )
        yield message

"""Adding messages to a thread."""

from collections.abc import Iterator
from functools import partial
from typing import Annotated

import msgspec
from fastapi import APIRouter, Body, Request, Response

from om_api.domain.api_keys import Role
from om_api.domain.errors import InvalidInputError
from om_api.domain.messages import Message
from om_api.domain.wire import encode_message, message_of_json
from om_api.http.requests.app_state import memory
from om_api.http.requests.given import GivenMessages, take
from om_api.http.requests.guard import Bounded, Guarded, needs
from om_api.http.requests.parameters import ResourceId, ThreadId
from om_api.http.requests.replies import answers, reply
from om_api.http.serving.limits import MAX_BODY, MAX_MESSAGE, SMALL_BODY
from om_api.http.serving.shares import Share


class Pushing(Guarded):
    """A route that takes up a large body in a thread, before FastAPI would do so on the event loop."""

    async def prepare(self, request: Bounded, share: Share) -> None:
        """Take up a large body."""
        body = await request.body()
        kind = request.headers.get("content-type", "").partition(";")[0].strip().lower()
        if len(body) > SMALL_BODY and kind == "application/json":
            share.large = True
            request.taken = await share.work(partial(take, body))


router = APIRouter(prefix="/v1/resources/{resource}/threads/{thread}", tags=["messages"], route_class=Pushing)


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


@router.post("/messages", **needs(Role.WRITER, most=MAX_BODY), **answers(Added, Added(["m-1", "m-2"], 2, [])))
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
        said = {name: value for name, value in each if name in each.model_fields_set}
        message = message_of_json(said | {"thread_id": thread, "resource_id": resource}, thread, resource)
        if (size := len(encode_message(message))) > MAX_MESSAGE:
            raise InvalidInputError(
                f"message {message.id} takes {size:,} bytes; permitted are {MAX_MESSAGE:,}: split it"
            )
        yield message

"""Adding messages to a thread, and its whole history."""

import json
from collections.abc import Iterator, Sequence
from contextlib import suppress
from functools import partial
from typing import Annotated, Any

import msgspec
from fastapi import APIRouter, Body, Request, Response

from om_api.client.receipts import Changed
from om_api.domain.api_keys import Role
from om_api.domain.messages import Message
from om_api.domain.texts.surrogates import whole_value
from om_api.domain.wire import message_of_json
from om_api.http.requests.app_state import memory
from om_api.http.requests.bounded import Bounded
from om_api.http.requests.given import GivenHistory, GivenMessage, GivenMessages, take
from om_api.http.requests.guard import Guarded, key_of, needs, redacts
from om_api.http.requests.parameters import ResourceId, ThreadId
from om_api.http.requests.replies import answers, rendered, reply
from om_api.http.serving.limits import MAX_BATCH, MAX_BODY, SMALL_BODY
from om_api.http.serving.shares import SHARE, Share


class Pushing(Guarded):
    """A route that takes up a large body in a thread, before FastAPI would do so on the event loop."""

    async def prepare(self, request: Bounded, share: Share) -> None:
        """Parse a large body in a thread; replace lone surrogates in a small one, which FastAPI would refuse.

        The Content-Type makes no difference here. FastAPI uses the result if it takes the type for JSON, as it does
        `application/x+json`, and refuses the body otherwise.
        """
        body = await request.body()
        if len(body) <= SMALL_BODY:
            if b"\\u" in body:
                with suppress(ValueError, RecursionError):  # FastAPI reports the error
                    request.taken = whole_value(json.loads(body))
        else:
            share.large = True
            expected: Any = self.body_field and self.body_field.field_info.annotation
            request.taken = await share.work(partial(take, body, expected))


router = APIRouter(prefix="/v1/resources/{resource}/threads/{thread}", tags=["messages"], route_class=Pushing)


class ChangedMessage(msgspec.Struct, frozen=True):
    """A message that was not kept, because the one of its id says something else; `advice` says what to do."""

    id: str
    advice: str


class Added(msgspec.Struct, frozen=True):
    """The ids the messages are kept under, and how many were new; the others were kept before.

    Of these `duplicates` say nothing new; `grown` say more, which is kept now; `changed` say something else, and nothing
    was changed; `replaced` took the place of what was raw, as was asked for. `ahead` were dated ahead of the server's
    clock, by `ahead_ms` at most, and are ordered by their arrival instead.
    """

    ids: tuple[str, ...]
    added: int
    duplicates: tuple[str, ...]
    grown: tuple[str, ...]
    changed: tuple[ChangedMessage, ...]
    replaced: tuple[str, ...]
    ahead: tuple[str, ...]
    ahead_ms: int


class SyncedHistory(msgspec.Struct, frozen=True):
    """The ids a history's messages are kept under, how many were new, and how many are known as they are.

    `grown` say more than was kept, which is kept now; `changed` say something else, and nothing was changed.
    `diverged_at` is the first position where the history differs from the stored one, null if it only continues it.
    `retracted` are the ids of messages that the history replaces, which contexts no longer show; `restored` are those that it
    contains again. `thread_id` is the thread that the history was added to: the one in the path, or a copy of it. Instructions
    at the beginning (role system) are not stored, and their id is "". `ahead` were dated ahead of the server's clock, by
    `ahead_ms` at most, and are ordered by their arrival instead. `cut` were too large, and are stored without their middle.
    """

    ids: tuple[str, ...]
    added: int
    known: int
    grown: tuple[str, ...]
    changed: tuple[ChangedMessage, ...]
    diverged_at: int | None
    retracted: tuple[str, ...]
    restored: tuple[str, ...]
    thread_id: str
    ahead: tuple[str, ...]
    ahead_ms: int
    cut: tuple[str, ...]


_EXAMPLE = {
    "messages": [
        {"id": "m-1", "role": "user", "content": "My flight is on Friday.", "timestamp": "2026-11-20T09:30:00Z"},
        {"id": "m-2", "role": "assistant", "content": "Noted: Friday."},
    ]
}
_HISTORY = {
    "messages": [
        {"role": "user", "content": "My flight is on Friday."},
        {"role": "assistant", "content": "Noted: Friday."},
        {"role": "user", "content": "Which airport?"},
    ]
}
_ADDED = Added(("m-1", "m-2"), 1, ("m-1",), (), (), (), (), 0)
_NAMED = (
    "s-1703939184e4ed343d826feb49bf777a",
    "s-ad0bbf9005b47847cae9b5f7d93311d8",
    "s-05f6d77fae0faa04808d3ac7d68f15a1",
)
_SYNCED = SyncedHistory(_NAMED, 1, 2, (), (), None, (), (), "thread-1", (), 0, ())


@router.post("/messages", **needs(Role.WRITER, most=MAX_BODY), **answers(Added, _ADDED))
async def add_messages(
    request: Request,
    resource: ResourceId,
    thread: ThreadId,
    given: Annotated[GivenMessages, Body(openapi_examples={"two": {"value": _EXAMPLE}})],
) -> Response:
    """Keep messages of a thread, in one step.

    An id is known while anything of its message is kept. Repeat a request whose reply was lost, with the same ids: what
    is kept already is named in `duplicates`. What says more under its id has `grown`, and the rest is kept too. What says
    something else is `changed`, and nothing happens; with `replace` it takes the place of what is still raw. A 503 says
    in `stored` what became of it.
    """
    receipt = await memory(request).add_messages(
        _messages(given.messages, resource, thread),
        replace=given.replace,
        memory=given.memory,
        pusher=key_of(request).pusher,
    )
    shown = {name: getattr(receipt, name) for name in Added.__struct_fields__}
    return reply(Added(**{**shown, "changed": _changed(receipt.changed)}))


@router.post("/sync", **needs(Role.WRITER, most=MAX_BODY), **answers(SyncedHistory, _SYNCED))
async def sync(
    request: Request,
    resource: ResourceId,
    thread: ThreadId,
    given: Annotated[GivenHistory, Body(openapi_examples={"three": {"value": _HISTORY}})],
) -> Response:
    """Add what is new of a thread's whole history, as a client holds it, with ids or without.

    A message without an id is identified by its text and what precedes it, so "ok" twice is two messages. A message whose id
    is stored with another text changes nothing and is listed in `changed`. `diverged` decides what happens where the history
    replaces stored messages, as after an edit, an undo or a new answer: `follow` retracts the replaced messages, `copy`
    continues in a copy of the thread, `keep` keeps both. Repeat a request if its reply was lost.
    """
    if len(given.messages) > MAX_BATCH or redacts(request):  # stored messages are redacted again, to be compared
        SHARE.get().large = True
    found = await memory(request).sync(
        _messages(given.messages, resource, thread),
        resource,
        thread,
        diverged=given.diverged,
        memory=given.memory,
        pusher=key_of(request).pusher,
    )
    return await rendered(lambda: SyncedHistory(**{**found._asdict(), "changed": _changed(found.changed)}))


def _changed(found: tuple[Changed, ...]) -> tuple[ChangedMessage, ...]:
    return tuple(ChangedMessage(each.id, each.advice) for each in found)


def _messages(given: Sequence[GivenMessage], resource: str, thread: str) -> Iterator[Message]:
    for each in given:
        said = {name: value for name, value in each if name in each.model_fields_set}
        yield message_of_json(said | {"thread_id": thread, "resource_id": resource})

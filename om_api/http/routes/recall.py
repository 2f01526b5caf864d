"""Recall: what was said before, found by its words, and a message of the past in its thread."""

from collections.abc import Iterable

import msgspec
from fastapi import APIRouter, Request, Response

from om_api.domain.api_keys import Role
from om_api.domain.errors import NotFoundError
from om_api.domain.messages import Message
from om_api.http.requests.app_state import memory
from om_api.http.requests.guard import Guarded, composing, needs
from om_api.http.requests.parameters import OfThread, Partial, ResourceId
from om_api.http.requests.recall_questions import AskedRecall, MessageId, Turns
from om_api.http.requests.replies import answers, rendered
from om_api.http.routes.observations import KeptMessage, kept_message
from om_api.recall.recalled import Browsed, Kind, Recalled, RecalledHit

router = APIRouter(prefix="/v1/resources/{resource}", tags=["recall"], route_class=Guarded)


class RecallHit(msgspec.Struct, frozen=True, kw_only=True):
    """One thing that was found: a message with the turns `before` and `after` it, an observation, or a generation.

    `id` is a message's, an observation's, or the number of a generation; `at` its time (Unix ms); `matched` the words of the
    query that it has, `weights` what each of them is worth, the rarer the more. `score` orders the hits of one answer,
    `certainty` (0 to 1) tells a find from chance. `covered_by` says what stands for a message in a context:
    `observation …`, `generation …`, or "" while it is shown as it was said. `resource_id` is whose memory it was found in.
    `retracted` are the ids of those of these messages that are retracted from their conversation.
    """

    kind: Kind
    id: str
    thread_id: str
    at: int
    text: str
    role: str
    score: float
    certainty: float
    matched: tuple[str, ...]
    weights: tuple[float, ...]
    covered_by: str
    message: KeptMessage | None
    before: tuple[KeptMessage, ...]
    after: tuple[KeptMessage, ...]
    resource_id: str
    retracted: tuple[str, ...]


class RecallAnswer(msgspec.Struct, frozen=True, kw_only=True):
    """Hits, the best first. `next` is the `offset` to go on with, null when nothing was left out.

    `reason` says why there are none and what to do; `notes` what of the query was not taken as it stands. `partial` is there
    where the archive could not be looked through, and says why. `left_out` says why another memory was not looked through.
    """

    query: str
    hits: tuple[RecallHit, ...]
    next: int | None
    reason: str
    notes: tuple[str, ...]
    left_out: dict[str, str]
    partial: Partial = msgspec.UNSET


class MessageAround(msgspec.Struct, frozen=True, kw_only=True):
    """A message, and the turns of its thread before and after it, oldest first.

    `earlier` and `later` say whether the thread goes on beyond them: ask again around the first or the last. `partial` is there
    where the archive could not be looked through, and says why. `retracted` are the ids of those of these messages that are
    retracted from their conversation.
    """

    thread_id: str
    message: KeptMessage
    before: tuple[KeptMessage, ...]
    after: tuple[KeptMessage, ...]
    earlier: bool
    later: bool
    retracted: tuple[str, ...]
    partial: Partial = msgspec.UNSET


_AT = 1_763_630_400_000
_SAID = KeptMessage(
    id="m-1",
    role="user",
    content="My flight is on Friday.",
    at=_AT,
    timestamp="2025-11-20T09:20:00Z",
    tokens=10,
    metadata=None,
)
_ANSWERED = msgspec.structs.replace(
    _SAID, id="m-2", role="assistant", content="Noted: Friday.", at=_AT + 1, timestamp=None, tokens=8
)
_HIT = RecallHit(
    kind="message",
    id="m-1",
    thread_id="thread-1",
    at=_AT,
    text="My flight is on Friday.",
    role="user",
    score=3.41,
    certainty=0.93,
    matched=("flight",),
    weights=(2.87,),
    covered_by="observation 0196f1c2a4b800000001a1b2c3d4e5f6",
    message=_SAID,
    before=(),
    after=(_ANSWERED,),
    resource_id="harold",
    retracted=(),
)
_FOUND = RecallAnswer(query="flight", hits=(_HIT,), next=None, reason="", notes=(), left_out={})
_AROUND = MessageAround(
    thread_id="thread-1", message=_SAID, before=(), after=(_ANSWERED,), earlier=False, later=True, retracted=()
)


@router.get("/recall", **needs(Role.READER), **answers(RecallAnswer, _FOUND))
async def recall(request: Request, resource: ResourceId, asked: AskedRecall) -> Response:
    """Look up what was said before by its words, in every tier and thread of a resource, the best hit first.

    What was acknowledged before this request is found from that moment on. Nothing found is 200, with a `reason`. A call of a
    tool never comes without its result. Dates in words count from today. Memories that the setting `compose` names, and those in
    `also`, are looked through too: the best hit of each first. 403 names one that the key is not bound to.
    """
    question = {**asked._asdict(), **composing(request, asked.also)}
    found = await memory(request).recall(resource_id=resource, **question)
    return await rendered(lambda: _answer(found))


@router.get("/messages/{message}/around", **needs(Role.READER), **answers(MessageAround, _AROUND))
async def around(
    request: Request,
    resource: ResourceId,
    message: MessageId,
    before: Turns = 5,
    after: Turns = 5,
    thread_id: OfThread = None,
) -> Response:
    """A message of the past, whatever tier it is in, with the turns before and after it: page on from either end.

    `thread_id` tells apart messages of several threads that have one id. 404 where nothing is kept of it.
    """
    found = await memory(request).browse(message, resource, before=before, after=after, thread_id=thread_id)
    own = found.message
    if own is None:
        where = f"{resource}'s thread {thread_id}" if thread_id else resource
        raise NotFoundError(
            f"{where} keeps no message {message}: check the id, or find it by its words with "
            f"GET /v1/resources/{resource}/recall?q=…{_unless_archived(found.partial)}"
        )
    return await rendered(lambda: _in_its_thread(own, found))


def _unless_archived(partial: str) -> str:
    return f"; it may be archived, where nobody could look: {partial}" if partial else ""


def _answer(found: Recalled) -> RecallAnswer:
    return RecallAnswer(
        query=found.query,
        hits=tuple(map(_hit, found.hits)),
        next=found.next,
        reason=found.reason,
        notes=found.notes,
        left_out=found.left_out,
        partial=found.partial or msgspec.UNSET,
    )


def _hit(hit: RecalledHit) -> RecallHit:
    own = {name: getattr(hit, name) for name in RecallHit.__struct_fields__}
    message = kept_message(hit.message) if hit.message else None
    return RecallHit(**{**own, "message": message, "before": _kept(hit.before), "after": _kept(hit.after)})


def _in_its_thread(own: Message, found: Browsed) -> MessageAround:
    return MessageAround(
        thread_id=own.thread_id,
        message=kept_message(own),
        before=_kept(found.before),
        after=_kept(found.after),
        earlier=found.earlier,
        later=found.later,
        retracted=found.retracted,
        partial=found.partial or msgspec.UNSET,
    )


def _kept(messages: Iterable[Message]) -> tuple[KeptMessage, ...]:
    return tuple(map(kept_message, messages))

"""Removing a fact wherever it stands."""

from typing import Annotated

from fastapi import APIRouter, Body, Request, Response
from pydantic import Field

from om_api.domain.api_keys import Role
from om_api.domain.requests.request_model import RequestModel
from om_api.domain.values import ID_PATTERN, Outcome
from om_api.http.requests.app_state import memory_of
from om_api.http.requests.auditing import audit_as
from om_api.http.requests.guard import Guarded, needs
from om_api.http.requests.parameters import ResourceId
from om_api.http.requests.replies import answers, reply
from om_api.store.erasing.erase import Erased, ErasedLines, ErasedMessage

router = APIRouter(prefix="/v1/resources/{resource}/erase", tags=["resources"], route_class=Guarded)
_ERASED = Erased(
    Outcome.CLEARED,
    messages=(ErasedMessage("thread-1", "m-17"),),
    observed_again=("019a9c6f0a6b5f0c2d1e3a4b5c6d7e8f",),
    generations=(ErasedLines(None, "3", ("* 🔴 The door code is 4711.",)),),
)


class Erasure(RequestModel):
    """What is to be erased: either a text, or a message."""

    matching: str | None = Field(None, max_length=10_000, description="whatever holds this text; case is ignored")
    message_id: str | None = Field(None, pattern=f"^{ID_PATTERN.pattern}$", description="one message, and its notes")
    thread_id: str | None = Field(None, pattern=f"^{ID_PATTERN.pattern}$", description="whose message it is")
    dry_run: bool = Field(default=False, description="tell what would be touched, and change nothing")


Given = Annotated[Erasure, Body(openapi_examples={"text": {"value": {"matching": "door code", "dry_run": True}}})]


@router.post("", **needs(Role.OPERATOR, audited="erased"), **answers(Erased, _ERASED))
async def erase(request: Request, resource: ResourceId, wanted: Given) -> Response:
    """Remove a fact wherever it stands: messages whole, of observations and generations the lines that tell it.

    What is left of the messages behind an observation is observed again. Backups and exported files are not reached.
    """
    what = f"message {wanted.message_id}" if wanted.message_id else "a text"
    audit_as(request, of=what, thread=wanted.thread_id or "", **({"did": ""} if wanted.dry_run else {}))
    return reply(await (await memory_of(request, resource)).erase(resource, **wanted.model_dump()))

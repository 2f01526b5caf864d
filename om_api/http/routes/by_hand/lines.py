"""Lines by hand: adding one to the notes, correcting one, and taking that back."""

from typing import Annotated

from fastapi import APIRouter, Body, Request, Response
from pydantic import Field

from om_api.domain.api_keys import Role
from om_api.domain.notes.edits import LONGEST
from om_api.domain.requests.request_model import RequestModel
from om_api.domain.values import ID_PATTERN, Outcome
from om_api.http.requests import examples
from om_api.http.requests.app_state import memory, memory_of
from om_api.http.requests.auditing import audit_line
from om_api.http.requests.guard import Guarded, key_of, needs
from om_api.http.requests.parameters import ObservationId, ResourceId
from om_api.http.requests.replies import answers, reply
from om_api.store.lines.correcting import LineChange

router = APIRouter(prefix="/v1/resources/{resource}", tags=["lines"], route_class=Guarded)
_ID = f"^{ID_PATTERN.pattern}$"
_SHOWN = 20_000  # characters of a line that a model wrote
_ADDED = LineChange(
    outcome=Outcome.ADDED,
    observation_id=examples.OBSERVATION.id,
    thread_id="thread-1",
    now="* 🔴 User never flies.",
)
_CORRECTED = LineChange(
    outcome=Outcome.CORRECTED,
    observation_id=examples.OBSERVATION.id,
    thread_id="thread-1",
    was="* 🔴 (09:30) User's flight is on Friday.",
    now="* 🔴 (09:30) User's flight is on Thursday.",
)


class NewLine(RequestModel):
    """A line to be noted, of a thread."""

    thread_id: str = Field(pattern=_ID, description="of which thread it is")
    text: str = Field(max_length=LONGEST, description="what it says; with a bullet of its own it keeps its mark")
    priority: int = Field(3, ge=1, le=5, description="5: it matters for long, 1: it is small")


class CorrectedLine(RequestModel):
    """A line, and what it is to say."""

    was: str = Field(max_length=_SHOWN, description="the line as a context shows it, or what it says behind its mark")
    now: str = Field(max_length=LONGEST, description="what it is to say; empty: it goes, and the details under it")
    thread_id: str | None = Field(None, pattern=_ID, description="of which thread, where several say so")
    observation_id: str | None = Field(None, pattern=_ID, description="of which observation, where several say so")


_NEW = {"line": {"value": {"thread_id": "thread-1", "text": "User never flies.", "priority": 5}}}
_CORRECTION = {"line": {"value": {"was": "User's flight is on Friday.", "now": "User's flight is on Thursday."}}}
Added = Annotated[NewLine, Body(openapi_examples=_NEW)]
Corrected = Annotated[CorrectedLine, Body(openapi_examples=_CORRECTION)]


@router.post("/lines", **needs(Role.WRITER, audited="line_added"), **answers(LineChange, _ADDED))
async def add_line(request: Request, resource: ResourceId, line: Added) -> Response:
    """Note a line: an observation of its own, of today, that covers no message. Events tell by which key.

    `undo` of its observation takes it back.
    """
    by = key_of(request).id
    done = memory(request).add_line(line.text, resource, line.thread_id, priority=line.priority, by=by)
    return _told(request, await done)


@router.post("/lines/correct", **needs(Role.OPERATOR, audited="line_corrected"), **answers(LineChange, _CORRECTED))
async def correct_line(request: Request, resource: ResourceId, line: Corrected) -> Response:
    """Have a line of the notes say something else, or go. A pinned one stays pinned, as it says now.

    One of an observation is changed where it stands, and `undo` of that observation takes it back. Of one of the reflection
    the next generation is made, which `restore` of the one before undoes.
    """
    om, by = await memory_of(request, resource), key_of(request).id
    given = {"thread_id": line.thread_id, "observation_id": line.observation_id}
    return _told(request, await om.correct_line(line.was, line.now, resource, by=by, **given))


@router.post(
    "/observations/{observation}/undo", **needs(Role.OPERATOR, audited="line_undone"), **answers(LineChange, _CORRECTED)
)
async def undo_line(request: Request, resource: ResourceId, observation: ObservationId) -> Response:
    """Take back the newest correction of an observation, of which three are kept; one that was only added goes."""
    om = await memory_of(request, resource)
    return _told(request, await om.undo_line(observation, resource, by=key_of(request).id))


def _told(request: Request, done: LineChange) -> Response:
    audit_line(request, done)
    return reply(done)

"""Pins: lines that stay, word for word, whatever is reflected."""

from typing import Annotated

from fastapi import APIRouter, Body, Path, Request, Response
from pydantic import Field

from om_api.domain.api_keys import Role
from om_api.domain.notes.pins import Pin
from om_api.domain.requests.request_model import RequestModel
from om_api.domain.values import ID_PATTERN, Outcome
from om_api.http.requests.app_state import memory, memory_of
from om_api.http.requests.auditing import audit_line
from om_api.http.requests.guard import Guarded, key_of, needs
from om_api.http.requests.parameters import OfThread, Page, ResourceId, WhichPage
from om_api.http.requests.replies import answers, rendered, reply
from om_api.store.lines.pinning import Pinned

router = APIRouter(prefix="/v1/resources/{resource}/pins", tags=["lines"], route_class=Guarded)
_ID = f"^{ID_PATTERN.pattern}$"
_SHOWN = 20_000  # characters of a line that a model wrote; what is too long to be pinned is told by its length
PinId = Annotated[str, Path(pattern=_ID, description="one pin")]
_PIN = Pin(
    id="0196f1c2a4b800000001a1b2c3d4e5f7",
    text="* 🔴 User never flies.",
    thread="thread-1",
    under="Date: Nov 20, 2026",
    at=1_763_630_500_000,
    by="3f1c20a9be77",
)


class PinnedLine(RequestModel):
    """A line that is to stay."""

    line: str = Field(max_length=_SHOWN, description="the line as a context shows it, or what it says behind its mark")
    thread_id: str | None = Field(None, pattern=_ID, description="of which thread, where several say so")


_LINE = {"line": {"value": {"line": "User never flies.", "thread_id": "thread-1"}}}
Given = Annotated[PinnedLine, Body(openapi_examples=_LINE)]


@router.get("", **needs(Role.READER), **answers(Page[Pin], Page([_PIN])))
async def list_pins(request: Request, resource: ResourceId, page: WhichPage, thread_id: OfThread = None) -> Response:
    """What is pinned, by id, which is by when: of every thread, or of one with what is common to all."""
    found = await memory(request).pins(resource, thread_id)
    return await rendered(lambda: page.of(found, lambda pin: f"{pin.id}|{pin.thread}"))


@router.post("", **needs(Role.OPERATOR, audited="pinned"), **answers(Pinned, Pinned(Outcome.PINNED, _PIN)))
async def pin(request: Request, resource: ResourceId, wanted: Given) -> Response:
    """Have a line of the notes stay: every reflection holds it, word for word. `rest`: it was pinned already."""
    om = await memory_of(request, resource)
    done = await om.pin(wanted.line, resource, wanted.thread_id, by=key_of(request).id)
    audit_line(request, done)
    return reply(done)


@router.delete("/{pin}", **needs(Role.OPERATOR, audited="unpinned"), **answers(Pinned, Pinned(Outcome.UNPINNED, _PIN)))
async def unpin(request: Request, resource: ResourceId, pin: PinId, thread_id: OfThread = None) -> Response:
    """Let a pinned line go. It stays where it stands until a reflection leaves it out."""
    om = await memory_of(request, resource)
    done = await om.unpin(pin, resource, thread_id, by=key_of(request).id)
    audit_line(request, done)
    return reply(done)

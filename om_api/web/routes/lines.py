"""Lines by hand: correcting one, adding one, pinning one that every reflection must keep; each with who, and how to undo it."""

from fastapi import APIRouter, Request, Response

from om_api.domain.api_keys import Role
from om_api.domain.errors import InvalidInputError
from om_api.domain.values import Outcome
from om_api.http.requests.auditing import audit_line
from om_api.http.requests.guard import key_of
from om_api.http.requests.parameters import ObservationId, ResourceId
from om_api.web.pages.page_route import PageRoute, may, shows
from om_api.web.pages.reader import reader_of
from om_api.web.pages.rendering import address, back_to

_TAKE_BACK = " “Take back what was done by hand” beneath the observation undoes that."
_BRING_BACK = (
    " The reflection has a new generation; to undo that, change the line back. A pin stays with what it says now."
)
router = APIRouter(prefix="/agents/{resource}", route_class=PageRoute)


@router.post("/lines", **shows(Role.WRITER, did="line_added"))
async def add(request: Request, resource: ResourceId) -> Response:
    """Note a line."""
    text, thread = _field(request, "text"), _field(request, "thread")
    if not thread:
        raise InvalidInputError("thread: name the conversation that the line belongs to")
    done = await (await reader_of(request, resource)).add_line(text, resource, thread, by=key_of(request).id)
    audit_line(request, done)
    undo = _TAKE_BACK if may(request)["operator"] else " An operator may take it back."
    return back_to(request, address(resource, thread=thread), f"Added, as the first of the observations.{undo}")


@router.post("/lines/correct", **shows(Role.OPERATOR, did="line_corrected"))
async def correct(request: Request, resource: ResourceId) -> Response:
    """Have a line say something else, or go."""
    memory, thread = await reader_of(request, resource), _field(request, "thread") or None
    done = await memory.correct_line(
        _field(request, "was"),
        _field(request, "now").replace("\n", " "),  # who presses Enter in a long field means no other line
        resource,
        thread,
        observation_id=_field(request, "observation") or None,
        by=key_of(request).id,
    )
    audit_line(request, done)
    corrected = f"Corrected.{_TAKE_BACK if done.observation_id else _BRING_BACK}"
    told = "It says so already." if done.outcome is Outcome.REST else corrected
    return back_to(request, address(resource, thread=thread), told)


@router.post("/observations/{observation}/undo", **shows(Role.OPERATOR, did="line_undone"))
async def undo(request: Request, resource: ResourceId, observation: ObservationId) -> Response:
    """Take back what was last done to an observation by hand."""
    audit_line(
        request, await (await reader_of(request, resource)).undo_line(observation, resource, by=key_of(request).id)
    )
    return back_to(request, address(resource), "Taken back.")


@router.post("/pins", **shows(Role.OPERATOR, did="pinned"))
async def pin(request: Request, resource: ResourceId) -> Response:
    """Have every reflection keep a line."""
    memory, thread = await reader_of(request, resource), _field(request, "thread") or None
    audit_line(request, await memory.pin(_field(request, "was"), resource, thread, by=key_of(request).id))
    return back_to(
        request,
        address(resource, thread=thread),
        "Pinned: every reflection keeps it, until you unpin it under Reflection.",
    )


@router.post("/pins/remove", **shows(Role.OPERATOR, did="unpinned"))
async def unpin(request: Request, resource: ResourceId) -> Response:
    """Let reflections condense a line again."""
    memory, thread = await reader_of(request, resource), _field(request, "thread") or None
    audit_line(request, await memory.unpin(_field(request, "was"), resource, thread, by=key_of(request).id))
    return back_to(
        request, address(resource, thread=thread), "Unpinned: it stays where it stands until it is condensed."
    )


def _field(request: Request, name: str) -> str:
    return str(request.state.form.get(name, "")).replace("\r\n", "\n").strip()

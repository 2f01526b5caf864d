"""What somebody has done to an agent's memory by a button: as over HTTP, by whoever may do it there; then the page says so."""

from collections.abc import Awaitable, Callable
from typing import Any

from fastapi import APIRouter, Request, Response

from om_api.domain.api_keys import Role
from om_api.domain.errors import InvalidInputError
from om_api.domain.values import Outcome
from om_api.http.requests.auditing import audit_as
from om_api.http.requests.parameters import ObservationId, ResourceId
from om_api.web.pages.page_route import PageRoute, shows
from om_api.web.pages.reader import reader_of
from om_api.web.pages.rendering import ASKED, address, back_to

router = APIRouter(prefix="/agents/{resource}", route_class=PageRoute)


@router.post("/observe", **shows(Role.WRITER, did="forced"))
async def observe(request: Request, resource: ResourceId) -> Response:
    """Have what is raw observed now."""
    audit_as(request, of="observe")
    memory = await reader_of(request, resource)
    outcome = await memory.force_observe(resource_id=resource)
    return back_to(request, address(resource), _asked(outcome, "observe", "nothing is raw"), outcome)


@router.post("/reflect", **shows(Role.WRITER, did="forced"))
async def reflect(request: Request, resource: ResourceId) -> Response:
    """Have the observations condensed now."""
    audit_as(request, of="reflect")
    outcome = await (await reader_of(request, resource)).force_reflect(resource)
    return back_to(request, address(resource), _asked(outcome, "reflect", "there are no observations"), outcome)


@router.post("/pause", **shows(Role.OPERATOR, did="paused"))
async def pause(request: Request, resource: ResourceId) -> Response:
    """Stop whatever calls a model."""
    await (await reader_of(request, resource)).pause(resource)
    return back_to(
        request,
        address(resource),
        "Paused: messages are kept and contexts served, no model is asked. Resume lets it go on.",
    )


@router.post("/resume", **shows(Role.OPERATOR, did="resumed"))
async def resume(request: Request, resource: ResourceId) -> Response:
    """Let it go on."""
    await (await reader_of(request, resource)).resume(resource)
    return back_to(request, address(resource), "Resumed.")


@router.post("/restore", **shows(Role.OPERATOR, did="restored"))
async def restore(request: Request, resource: ResourceId) -> Response:
    """Bring a generation back."""
    form = request.state.form
    number, thread = form.get("generation", ""), form.get("thread") or None
    audit_as(request, of=number, thread=thread or "")
    if not number.isdecimal():
        raise InvalidInputError("generation: a number is needed, 0 for the time before the first; choose one again")
    outcome = await (await reader_of(request, resource)).restore(resource, int(number), thread)
    told = {
        Outcome.RESTORED: f"The text of generation {number} is in force again; restoring another one undoes it.",
        Outcome.REST: f"Generation {number} is in force already.",
        Outcome.SUPERSEDED: "The memory changed meanwhile, so nothing was restored: look again, and repeat.",
    }
    return back_to(request, address(resource, thread=thread), told.get(outcome, str(outcome)), outcome)


@router.post("/observations/{observation}/forget", **shows(Role.OPERATOR, did="forgot"))
async def forget(request: Request, resource: ResourceId, observation: ObservationId) -> Response:
    """Remove an observation and the messages behind it."""
    await (await reader_of(request, resource)).forget(observation, resource)
    return back_to(request, address(resource), "Forgotten, with the messages behind it.")


@router.post("/rejected/{entry}/retry", **shows(Role.OPERATOR, did="retried"))
async def retry(request: Request, resource: ResourceId, entry: str) -> Response:
    """Give a rejected message another chance."""
    return await _of_rejected(request, resource, lambda memory: memory.retry_rejected(resource, entry))


@router.post("/rejected/{entry}/drop", **shows(Role.OPERATOR, did="dropped"))
async def drop(request: Request, resource: ResourceId, entry: str) -> Response:
    """Remove an entry of the quarantine."""
    return await _of_rejected(request, resource, lambda memory: memory.drop_rejected(resource, entry))


async def _of_rejected(request: Request, resource: str, do: Callable[[Any], Awaitable[Outcome]]) -> Response:
    outcome = await do(await reader_of(request, resource))
    told = {
        Outcome.SUPERSEDED: "There is no such entry any more.",
        Outcome.BUSY: "It is raw again; the workers will judge it.",
        Outcome.SEALED: "It will be observed again.",
    }
    return back_to(request, f"{address(resource)}/rejected", told.get(outcome, "Dropped."), outcome)


def _asked(outcome: Outcome, what: str, nothing: str) -> str:
    if outcome is Outcome.REST:
        return f"There was nothing to do: {nothing}."
    return f"{ASKED} to {what}." if outcome is Outcome.BUSY else f"Done: {outcome}."

"""The working memory of an agent: its fields changed in a form, and a change taken back."""

from fastapi import APIRouter, Request, Response

from om_api.domain.api_keys import Role
from om_api.domain.kept.working_memory import schemas_of, value_of
from om_api.domain.values import Outcome
from om_api.http.requests.guard import key_of
from om_api.http.requests.parameters import ResourceId
from om_api.web.pages.page_route import PageRoute, shows
from om_api.web.pages.reader import reader_of
from om_api.web.pages.rendering import address, back_to

router = APIRouter(prefix="/agents/{resource}/working-memory", route_class=PageRoute)
_FIELD = "field:"
_MEANWHILE = "Somebody else changed it meanwhile: this is what it says now."


@router.post("", **shows(Role.WRITER, did="working_memory_updated"))
async def update(request: Request, resource: ResourceId) -> Response:
    """Have fields say what the form says; of two who save at once the second is told."""
    form, thread = request.state.form, _thread(request)
    memory, version = await reader_of(request, resource), str(form.get("version", ""))
    schemas = schemas_of(memory.settings.for_agent(resource).working_memory.json_schema)
    said = {name.removeprefix(_FIELD): str(value) for name, value in form.items() if name.startswith(_FIELD)}
    given = {field: value_of(value, schemas.get(field)) for field, value in said.items()}
    done = await memory.update_working_memory(
        given, resource, thread, version=int(version) if version.isdecimal() else None, by=key_of(request).id
    )
    told = {Outcome.SUPERSEDED: _MEANWHILE, Outcome.REST: "It says so already."}.get(done.outcome, "Saved.")
    return back_to(request, address(resource, thread=_of_page(request)), told)


@router.post("/undo", **shows(Role.OPERATOR, did="working_memory_undone"))
async def undo(request: Request, resource: ResourceId) -> Response:
    """Bring back what it said before the last change."""
    memory = await reader_of(request, resource)
    await memory.undo_working_memory(resource, _thread(request), by=key_of(request).id)
    return back_to(request, address(resource, thread=_of_page(request)), "Taken back; doing so again brings it back.")


def _thread(request: Request) -> str | None:
    return str(request.state.form.get("thread", "")) or None


def _of_page(request: Request) -> str | None:
    return str(request.state.form.get("shown", "")) or None

"""The working memory: fields that an Actor keeps, read, changed and brought back."""

from typing import Annotated, Any

from fastapi import APIRouter, Body, Request, Response
from pydantic import Field

from om_api.domain.api_keys import Role
from om_api.domain.kept.working_memory import WorkingChange, WorkingMemory, WorkingVersion
from om_api.domain.requests.request_model import RequestModel
from om_api.domain.values import Outcome
from om_api.http.requests.app_state import memory
from om_api.http.requests.guard import Guarded, key_of, needs
from om_api.http.requests.parameters import OfThread, ResourceId
from om_api.http.requests.replies import answers, rendered, reply

router = APIRouter(prefix="/v1/resources/{resource}/working-memory", tags=["working memory"], route_class=Guarded)
_NOW = WorkingMemory(
    resource_id="harold",
    fields={"Name": "Ada", "City": "Graz"},
    text="# User\n- **Name**: Ada\n- **City**: Graz",
    version=2,
    at=1_763_630_500_000,
    by="3f1c20a9be77",
)
_CHANGED = WorkingChange(outcome=Outcome.UPDATED, working_memory=_NOW)
_FORMER = WorkingVersion(version=1, fields={"Name": "Ada"}, at=1_763_630_400_000, by="3f1c20a9be77")


class GivenFields(RequestModel):
    """Fields and what they are to say."""

    fields: dict[str, Any] = Field(description="by name; null empties one")
    version: int | None = Field(
        None, ge=0, description="the version that was read: `superseded`, and nothing changes, where another one stands"
    )


_FIELDS = {"fields": {"value": {"fields": {"City": "Graz", "Deadline": None}}}}
Given = Annotated[GivenFields, Body(openapi_examples=_FIELDS)]


@router.get("", **needs(Role.READER), **answers(WorkingMemory, _NOW))
async def read_working_memory(request: Request, resource: ResourceId, thread_id: OfThread = None) -> Response:
    """What the working memory says; `thread_id` where each thread has its own."""
    found = await memory(request).working_memory(resource, thread_id)
    return await rendered(lambda: found)


@router.patch("", **needs(Role.WRITER, audited="working_memory_updated"), **answers(WorkingChange, _CHANGED))
async def update_working_memory(
    request: Request, resource: ResourceId, given: Given, thread_id: OfThread = None
) -> Response:
    """Change fields; what is not named stays. Two who change at once both succeed, field by field."""
    return await _changed(request, resource, given, thread_id, replace=False)


@router.put("", **needs(Role.WRITER, audited="working_memory_updated"), **answers(WorkingChange, _CHANGED))
async def replace_working_memory(
    request: Request, resource: ResourceId, given: Given, thread_id: OfThread = None
) -> Response:
    """Change fields, and empty all that are not named."""
    return await _changed(request, resource, given, thread_id, replace=True)


@router.post("/undo", **needs(Role.OPERATOR, audited="working_memory_undone"), **answers(WorkingChange, _CHANGED))
async def undo_working_memory(request: Request, resource: ResourceId, thread_id: OfThread = None) -> Response:
    """Bring back what it said before the last change; that can be undone in the same way."""
    return reply(await memory(request).undo_working_memory(resource, thread_id, by=key_of(request).id))


@router.get("/versions", **needs(Role.READER), **answers(list[WorkingVersion], [_FORMER]))
async def list_working_memory_versions(request: Request, resource: ResourceId, thread_id: OfThread = None) -> Response:
    """Its former versions that are kept, oldest first: as many as `working_memory.versions` says, 100 at most."""
    found = await memory(request).working_memory_versions(resource, thread_id)
    return await rendered(lambda: found)


async def _changed(
    request: Request, resource: str, given: GivenFields, thread: str | None, *, replace: bool
) -> Response:
    change = memory(request).update_working_memory(
        given.fields, resource, thread, replace=replace, version=given.version, by=key_of(request).id
    )
    return reply(await change)

"""Redacting what a memory holds already."""

from typing import Annotated

from fastapi import APIRouter, Body, Request, Response
from pydantic import Field

from om_api.domain.api_keys import Role
from om_api.domain.requests.request_model import RequestModel
from om_api.domain.values import Outcome
from om_api.http.requests.app_state import memory_of
from om_api.http.requests.auditing import audit_as
from om_api.http.requests.guard import Guarded, needs
from om_api.http.requests.parameters import ResourceId
from om_api.http.requests.replies import answers, reply
from om_api.store.backup.old_text import OldText

router = APIRouter(prefix="/v1/resources/{resource}/redact", tags=["resources"], route_class=Guarded)
_DONE = OldText(Outcome.CLEARED, {"email": 3, "phone": 1}, {"messages": 2, "observations": 1})


class OldTextRedaction(RequestModel):
    """Whether anything is changed."""

    dry_run: bool = Field(default=False, description="tell how much would be replaced, and change nothing")


Given = Annotated[OldTextRedaction, Body(openapi_examples={"look": {"value": {"dry_run": True}}})]


@router.post("", **needs(Role.OPERATOR, audited="redacted"), **answers(OldText, _DONE))
async def redact(request: Request, resource: ResourceId, wanted: Given) -> Response:
    """Redact what was stored before `redaction.before: store` was set: every tier, in place. Repeating it is safe.

    Backups and exported files are not reached.
    """
    if wanted.dry_run:
        audit_as(request, did="")
    return reply(await (await memory_of(request, resource)).redact(resource, dry_run=wanted.dry_run))

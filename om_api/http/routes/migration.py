"""Moving a memory to the other scope."""

from typing import Annotated, Literal

from fastapi import APIRouter, Body, Request, Response

from om_api.domain.api_keys import Role
from om_api.domain.requests.request_model import RequestModel
from om_api.domain.values import Outcome
from om_api.http.requests.app_state import memory_of
from om_api.http.requests.auditing import audit_as
from om_api.http.requests.guard import Guarded, needs
from om_api.http.requests.parameters import ResourceId
from om_api.http.requests.replies import Done, answers, reply

router = APIRouter(prefix="/v1/resources/{resource}", tags=["resources"], route_class=Guarded)


class ScopeMove(RequestModel):
    """What one memory is to cover: a `thread`, or the whole `resource`."""

    to: Literal["thread", "resource"]


Given = Annotated[ScopeMove, Body(openapi_examples={"threads": {"value": {"to": "thread"}}})]


@router.post("/migrate-scope", **needs(Role.OPERATOR, audited="migrated"), **answers(Done, Done(Outcome.ACTIVATED)))
async def migrate_scope(request: Request, resource: ResourceId, asked: Given) -> Response:
    """Move a memory to the other scope, in one step.

    `activated`: moved. `rest`: there was nothing to move. `busy`, while chunks are being observed, and `superseded`, when
    it changed meanwhile: nothing has changed, repeat. The configuration stays as it is: change `scope` there too.
    """
    audit_as(request, of=asked.to)
    return reply(Done(await (await memory_of(request, resource)).migrate_scope(resource, asked.to)))

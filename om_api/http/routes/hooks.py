"""The hooks of an agent, and how they are doing."""

from fastapi import APIRouter, Request, Response

from om_api.client.hooking import HookState
from om_api.domain.api_keys import Role
from om_api.http.requests.app_state import memory
from om_api.http.requests.guard import Guarded, needs
from om_api.http.requests.parameters import ResourceId
from om_api.http.requests.replies import answers, reply

router = APIRouter(prefix="/v1/resources/{resource}/hooks", tags=["settings"], route_class=Guarded)
_STATE = HookState(
    point="before_observe", name="calm", kind="entry_point", timeout=2.0, on_failure="skip", runs_in="worker", ready=True,
    failures=0,
)  # fmt: skip


@router.get("", **needs(Role.OPERATOR), **answers(list[HookState], [_STATE]))
async def list_hooks(request: Request, resource: ResourceId) -> Response:
    """The agent's hooks in the order in which they are asked: where each runs, if this server has it, how often it failed."""
    return reply(await memory(request).hooks(resource))

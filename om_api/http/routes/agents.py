"""All agents in pages: the fleet at a glance, in any order."""

from typing import Annotated

from fastapi import APIRouter, Query, Request, Response

from om_api.client.fleet.agent_rows import State
from om_api.client.fleet.agent_table import Column
from om_api.client.fleet.agents import PAGE, Agents
from om_api.domain.api_keys import Role
from om_api.http.requests import examples
from om_api.http.requests.app_state import memory
from om_api.http.requests.guard import Guarded, key_of, needs
from om_api.http.requests.parameters import Cursor
from om_api.http.requests.replies import answers, reply

router = APIRouter(prefix="/v1/agents", tags=["agents"], route_class=Guarded)
_PAGE = 50
Sort = Annotated[Column, Query(description="by what they are ordered")]
Descending = Annotated[bool, Query(description="most of it first")]
InState = Annotated[State | None, Query(description="only agents in this state")]
Search = Annotated[str, Query(max_length=200, description="only agents with this in their names", examples=["worker-"])]
Most = Annotated[int, Query(ge=1, le=PAGE, description="most agents of the page")]


@router.get("", **needs(Role.READER), **answers(Agents, examples.AGENTS))
async def list_agents(
    request: Request,
    *,
    sort: Sort = "pressure",
    descending: Descending = True,
    state: InState = None,
    search: Search = "",
    cursor: Cursor = None,
    limit: Most = _PAGE,
) -> Response:
    """A page of the agents that the key is bound to, in an order: pressure, tokens, lag, costs, state.

    The order is that of a table which this server keeps; `complete` says whether it holds all of them already.
    """
    bound = key_of(request).bound
    found = await memory(request).agents(
        sort=sort, descending=descending, state=state, search=search, cursor=cursor, limit=limit, among=bound
    )
    return reply(found)

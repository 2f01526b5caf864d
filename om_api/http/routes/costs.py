"""What models cost, what is left of budgets, and what the memory saves."""

from typing import Annotated

from fastapi import APIRouter, Query, Request, Response

from om_api.billing import agent_costs
from om_api.billing.agent_costs import CostsByAgent
from om_api.billing.budgets import DAYS
from om_api.billing.costs import Costs
from om_api.domain.api_keys import Role
from om_api.http.requests import examples
from om_api.http.requests.app_state import memory
from om_api.http.requests.guard import Guarded, key_of, needs
from om_api.http.requests.parameters import ResourceId
from om_api.http.requests.replies import answers, reply

router = APIRouter(prefix="/v1", tags=["costs"], route_class=Guarded)
Days = Annotated[int, Query(ge=1, le=DAYS, description="UTC days, today included")]
FewDays = Annotated[int, Query(ge=1, le=agent_costs.DAYS, description="UTC days, today included")]
Most = Annotated[int, Query(ge=1, le=agent_costs.AGENTS, description="most agents")]
_DAYS, _MOST = 7, 20


@router.get("/costs", **needs(Role.OPERATOR, of_all=True), **answers(Costs, examples.COSTS))
async def get_costs_of_all(request: Request, days: Days = _DAYS) -> Response:
    """What everybody's models cost, by day, model and purpose, and what is left of the budget of all."""
    return reply(await memory(request).costs(None, days))


@router.get("/costs/agents", **needs(Role.READER), **answers(CostsByAgent, examples.COSTS_BY_AGENT))
async def get_costs_by_agent(request: Request, days: FewDays = 1, limit: Most = _MOST) -> Response:
    """The agents that cost most, among those that the key is bound to; what is left of their budgets, and what they saved."""
    return reply(await memory(request).costs_by_agent(days, limit=limit, among=key_of(request).bound))


@router.get("/resources/{resource}/costs", **needs(Role.READER), **answers(Costs, examples.COSTS))
async def get_costs(request: Request, resource: ResourceId, days: Days = _DAYS) -> Response:
    """What a resource's models cost, what is left of its budgets today, and what its contexts saved."""
    return reply(await memory(request).costs(resource, days))

"""What models cost, what is left of budgets, and what the memory saves."""

from typing import Annotated

from fastapi import APIRouter, Query, Request, Response

from om_api.accounts import DAYS
from om_api.api_keys import Role
from om_api.costs import Costs
from om_api.http import examples
from om_api.http.guard import Guarded, needs
from om_api.http.house import memory
from om_api.http.ids import ResourceId
from om_api.http.replies import answers, reply

router = APIRouter(prefix="/v1", tags=["costs"], route_class=Guarded)
Days = Annotated[int, Query(ge=1, le=DAYS, description="UTC days, today included")]
_DAYS = 7


@router.get("/costs", openapi_extra=needs(Role.OPERATOR, of_all=True), responses=answers(Costs, examples.COSTS))
async def get_costs_of_all(request: Request, days: Days = _DAYS) -> Response:
    """What everybody's models cost, by day, model and purpose, and what is left of the budget of all."""
    return reply(await memory(request).costs(None, days))


@router.get("/resources/{resource}/costs", openapi_extra=needs(Role.READER), responses=answers(Costs, examples.COSTS))
async def get_costs(request: Request, resource: ResourceId, days: Days = _DAYS) -> Response:
    """What a resource's models cost, what is left of its budgets today, and what its contexts saved."""
    return reply(await memory(request).costs(resource, days))

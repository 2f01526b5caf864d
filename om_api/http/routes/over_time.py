"""Tokens, costs and savings over time."""

from typing import Annotated

from fastapi import APIRouter, Query, Request, Response

from om_api.client.fleet.usage_series import DAYS, UsageSeries
from om_api.domain.api_keys import Role
from om_api.http.requests import examples
from om_api.http.requests.app_state import memory
from om_api.http.requests.guard import Guarded, needs
from om_api.http.requests.parameters import ResourceId
from om_api.http.requests.replies import answers, reply

router = APIRouter(prefix="/v1", tags=["series"], route_class=Guarded)
Days = Annotated[int, Query(ge=1, le=DAYS, description="the last so many days")]
_DAYS = 7


@router.get("/series", **needs(Role.READER, of_all=True), **answers(UsageSeries, examples.SERIES))
async def get_series_of_all(request: Request, days: Days = _DAYS) -> Response:
    """Tokens by tier, compression, costs and savings of all agents over time, in 1,000 points at most."""
    return reply(await memory(request).series(None, days))


@router.get("/resources/{resource}/series", **needs(Role.READER), **answers(UsageSeries, examples.SERIES))
async def get_series(request: Request, resource: ResourceId, days: Days = _DAYS) -> Response:
    """The same of one resource, if it is measured apart; a point stands until the next one."""
    return reply(await memory(request).series(resource, days))

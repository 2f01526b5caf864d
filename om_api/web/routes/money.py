"""What models cost, by day and model; budgets, and how long they will last; what was saved against the raw history."""

from typing import Annotated

from fastapi import APIRouter, Query, Request, Response

from om_api.billing.agent_costs import DAYS as MOST_DAYS
from om_api.billing.budgets import DAYS
from om_api.billing.costs import Costs
from om_api.domain.api_keys import Role
from om_api.http.requests.parameters import ResourceId
from om_api.web.pages.charts import Chart, ChartSeries, chart
from om_api.web.pages.page_route import PageRoute, shows
from om_api.web.pages.reader import reader, reader_of
from om_api.web.pages.rendering import page

router = APIRouter(route_class=PageRoute)
Days = Annotated[int, Query(ge=1, le=DAYS)]
_DAYS = 14


@router.get("/money", **shows(Role.OPERATOR, of_all=True))
async def show_money(request: Request, days: Days = _DAYS) -> Response:
    """What all agents cost."""
    found = await reader(request).costs(None, days)
    by_agent = await reader(request).costs_by_agent(min(days, MOST_DAYS))
    return page(
        request, "money.html", resource="", days=days, costs=found, by_day=_by_day(found), by_agent=by_agent.agents
    )


@router.get("/agents/{resource}/costs", **shows())
async def show_costs(request: Request, resource: ResourceId, days: Days = _DAYS) -> Response:
    """What one agent costs."""
    found = await (await reader_of(request, resource)).costs(resource, days)
    return page(request, "money.html", resource=resource, days=days, costs=found, by_day=_by_day(found), by_agent=[])


def _by_day(costs: Costs) -> Chart:
    """Dollars of each day, by model, as a picture."""
    days = sorted({line.day for line in costs.lines})
    models = sorted({line.model for line in costs.lines})
    series = [
        ChartSeries(
            model,
            [sum(line.cost or 0 for line in costs.lines if (line.model, line.day) == (model, day)) for day in days],
        )
        for model in models
    ]
    return chart(days, series, "$")

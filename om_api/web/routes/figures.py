"""Figures over time: tokens by tier, compression, what was paid and saved; and which agents hold most."""

from bisect import bisect_right
from collections.abc import Callable, Sequence
from typing import Annotated

from fastapi import APIRouter, Query, Request, Response

from om_api.client.fleet.agent_rows import Agent
from om_api.client.fleet.usage_series import DAYS, UsagePoint
from om_api.domain.api_keys import Role
from om_api.http.requests.app_state import app_state
from om_api.http.requests.guard import key_of
from om_api.http.requests.parameters import ResourceId
from om_api.web.pages.charts import Chart, ChartSeries, chart
from om_api.web.pages.page_route import PageRoute, shows
from om_api.web.pages.reader import reader, reader_of
from om_api.web.pages.rendering import page

router = APIRouter(route_class=PageRoute)
Days = Annotated[int, Query(ge=1, le=DAYS)]
_DAYS = 7
_POINTS = 100
_STRETCHES = [
    1_000 * size for size in (600, 1_200, 3_600, 7_200, 14_400, 28_800, 86_400, 345_600)
]  # each whole samples
_AGENTS = 10
_TIERS = (
    ("raw, unsealed", "message_tokens"),
    ("raw, in chunks", "chunk_tokens"),
    ("observations", "observation_tokens"),
    ("reflections", "reflection_tokens"),
)


@router.get("/figures", **shows(Role.READER, of_all=True))
async def show_figures(request: Request, days: Days = _DAYS) -> Response:
    """Of all agents together."""
    found = await reader(request).series(None, days)
    most = await app_state(request).memory.agents(sort="message_tokens", limit=_AGENTS, among=key_of(request).bound)
    return _page(request, "", days, found.points, most.items)


@router.get("/agents/{resource}/figures", **shows())
async def show_figures_of(request: Request, resource: ResourceId, days: Days = _DAYS) -> Response:
    """Of one agent."""
    found = await (await reader_of(request, resource)).series(resource, days)
    return _page(request, resource, days, found.points, [])


def _page(request: Request, resource: str, days: int, points: Sequence[UsagePoint], most: Sequence[Agent]) -> Response:
    measured = app_state(request).settings.memory.metrics.resources
    charts = _charts(points)
    return page(request, "figures.html", resource=resource, days=days, charts=charts, most=most, measured=measured)


def _charts(points: Sequence[UsagePoint]) -> dict[str, Chart]:
    times = _times(points)
    held = [points[max(0, bisect_right(points, at, key=lambda point: point.at) - 1)] for at in times]
    tiers = [ChartSeries(name, [getattr(point, field) for point in held]) for name, field in _TIERS]
    tokens = [
        ChartSeries("raw history", _sums(points, times, lambda point: point.history_tokens)),
        ChartSeries("contexts", _sums(points, times, lambda point: point.served_tokens)),
    ]
    dollars = [
        ChartSeries("paid for notes", _sums(points, times, lambda point: point.cost)),
        ChartSeries("saved", _sums(points, times, lambda point: point.saved_dollars or 0)),
    ]
    compression = [ChartSeries("compression", [point.compression or 0 for point in held])]
    return {
        "Tokens by tier": chart(times, tiers, "tokens"),
        "Compression": chart(times, compression, "x"),
        "Tokens of the contexts served, and of the raw history in their place": chart(
            times, tokens, "tokens", stacked=False
        ),
        "Dollars": chart(times, dollars, "$", stacked=False),
    }


def _times(points: Sequence[UsagePoint]) -> list[int]:
    """The ends of equal stretches, from the first point to the last: each of whole samples, or what they add up to would jump."""
    if not points:
        return []
    first, last = points[0].at, points[-1].at
    stretch = next((each for each in _STRETCHES if (last - first) // each < _POINTS), _STRETCHES[-1])
    return [last - stretch * back for back in reversed(range((last - first) // stretch + 1))]


def _sums(points: Sequence[UsagePoint], times: Sequence[int], of: Callable[[UsagePoint], float]) -> list[float]:
    """What points add up to in each stretch, behind the one before."""
    sums = [0.0] * len(times)
    for point in points:
        sums[min(bisect_right(times, point.at - 1), len(times) - 1)] += of(point)
    return sums

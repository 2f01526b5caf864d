"""What Prometheus reads: figures of everybody, so a key must be bound to every resource."""

from fastapi import APIRouter, Request, Response
from fastapi.responses import PlainTextResponse

from om_api.api_keys import Role
from om_api.http.guard import Guarded, needs
from om_api.http.house import house
from om_api.http.replies import refusals
from om_api.metrics.exposition import MEDIA_TYPE

router = APIRouter(tags=["monitoring"], route_class=Guarded)
_EXAMPLE = """\
# HELP cortex_om_observations_tokens Tokens of the observations in force.
# TYPE cortex_om_observations_tokens gauge
cortex_om_observations_tokens{resource_id="harold"} 1840.0
"""


@router.get(
    "/metrics",
    openapi_extra=needs(Role.READER, of_all=True),
    response_class=PlainTextResponse,
    responses={200: {"content": {"text/plain": {"example": _EXAMPLE}}}, **refusals()},
)
async def get_metrics(request: Request) -> Response:
    """Every series of docs/monitoring.md, read from the store at this moment, or within the last second."""
    return Response(await house(request).scraper.scrape(), media_type=MEDIA_TYPE)

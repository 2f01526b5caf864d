"""What Prometheus reads: figures of everybody, so a key must be bound to every resource."""

from fastapi import APIRouter, Request, Response
from fastapi.responses import PlainTextResponse

from om_api.domain.api_keys import Role
from om_api.http.requests.app_state import app_state
from om_api.http.requests.guard import Guarded, needs
from om_api.http.requests.replies import sends
from om_api.metrics.scraper import MEDIA_TYPE

router = APIRouter(tags=["monitoring"], route_class=Guarded)
_EXAMPLE = """\
# HELP cortex_om_observations_tokens Tokens of the observations in force.
# TYPE cortex_om_observations_tokens gauge
cortex_om_observations_tokens{resource_id="harold"} 1840.0
"""


@router.get(
    "/metrics",
    **needs(Role.READER, of_all=True),
    **sends("text/plain", _EXAMPLE),
    response_class=PlainTextResponse,
)
async def get_metrics(request: Request) -> Response:
    """Every series of docs/monitoring.md, read from the store at this moment, or within the last second."""
    return Response(await app_state(request).scraper.scrape(), media_type=MEDIA_TYPE)

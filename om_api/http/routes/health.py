"""Whether this process lives and can do its work, which anybody may ask; and what Prometheus reads.

These are figures of everybody, so its key must be bound to every resource.
"""

import msgspec
from fastapi import APIRouter, Request, Response
from fastapi.responses import PlainTextResponse

from om_api.domain.api_keys import Role
from om_api.http.requests.app_state import app_state, memory
from om_api.http.requests.guard import Guarded, needs
from om_api.http.requests.replies import answers, reply, sends
from om_api.metrics.scraper import MEDIA_TYPE

router = APIRouter(tags=["health"])
figures = APIRouter(tags=["monitoring"], route_class=Guarded)
_EXAMPLE = """\
# HELP cortex_om_observations_tokens Tokens of the observations in force.
# TYPE cortex_om_observations_tokens gauge
cortex_om_observations_tokens{resource_id="harold"} 1840.0
"""


class Health(msgspec.Struct, frozen=True):
    """One word."""

    status: str


@router.get("/healthz", **answers(Health, Health("alive"), public=True))
async def healthz() -> Response:
    """This process answers; nobody else is asked."""
    return reply(Health("alive"))


@router.get("/readyz", **answers(Health, Health("ready"), public=True))
async def readyz(request: Request) -> Response:
    """The store answers too; 503 otherwise."""
    await memory(request).ping()
    return reply(Health("ready"))


@figures.get(
    "/metrics",
    **needs(Role.READER, of_all=True),
    **sends("text/plain", _EXAMPLE),
    response_class=PlainTextResponse,
)
async def get_metrics(request: Request) -> Response:
    """Every series of docs/monitoring.md, read from the store at this moment, or within the last second."""
    return Response(await app_state(request).scraper.scrape(), media_type=MEDIA_TYPE)

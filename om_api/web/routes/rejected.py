"""What could not be accepted or observed, why, and another chance for it."""

from fastapi import APIRouter, Request, Response

from om_api.domain.api_keys import Role
from om_api.http.requests.parameters import ResourceId
from om_api.web.pages.page_route import PageRoute, shows
from om_api.web.pages.reader import reader_of
from om_api.web.pages.rendering import page

router = APIRouter(prefix="/agents/{resource}", route_class=PageRoute)
_SHOWN = 100


@router.get("/rejected", **shows(Role.OPERATOR))
async def show_rejected(request: Request, resource: ResourceId) -> Response:
    """The newest entries of an agent's quarantine."""
    memory = await reader_of(request, resource)
    entries = await memory.rejected(resource, _SHOWN)
    return page(request, "rejected.html", resource=resource, entries=entries[::-1], most=_SHOWN)

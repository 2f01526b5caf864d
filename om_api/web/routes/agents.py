"""All agents, sorted, filtered and paged by the server."""

from fastapi import APIRouter, Request, Response

from om_api.http.requests.guard import key_of
from om_api.web.pages.page_route import PageRoute, shows
from om_api.web.pages.reader import reader
from om_api.web.pages.rendering import page
from om_api.web.routes.agent import may

router = APIRouter(prefix="/agents", route_class=PageRoute)


@router.get("", **shows())
async def show_agents(request: Request) -> Response:
    """The table."""
    memory = reader(request)
    key = key_of(request)
    found = [each for each in (await memory.overview()).stats if key.covers(each.resource)]
    return page(request, "agents.html", agents=found, may=may(request))

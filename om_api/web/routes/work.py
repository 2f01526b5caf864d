"""What is being done: queues, workers, ticks, and what doctor finds, with its remedies."""

import asyncio

from fastapi import APIRouter, Request, Response

from om_api.domain.api_keys import Role
from om_api.http.requests.app_state import app_state
from om_api.ops import doctor, queues
from om_api.web.pages.page_route import PageRoute, shows
from om_api.web.pages.rendering import page

router = APIRouter(route_class=PageRoute)


@router.get("/work", **shows(Role.OPERATOR, of_all=True))
async def show_work(request: Request) -> Response:
    """All of it, at this moment."""
    settings = app_state(request).settings
    found, checkup = await asyncio.gather(
        asyncio.to_thread(queues.look, settings), asyncio.to_thread(doctor.examine, settings)
    )
    return page(request, "work.html", queues=found, findings=checkup.findings)

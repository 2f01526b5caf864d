"""The pages of an app: their routes, their files, and the memory that they read, which tells nobody of contexts looked at."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

from fastapi import APIRouter, FastAPI
from starlette.requests import Request
from starlette.responses import RedirectResponse, Response

from om_api.http.requests.app_state import SharedMemory
from om_api.web.pages import static_files
from om_api.web.pages.live import Live
from om_api.web.pages.page_route import failure
from om_api.web.routes import (
    actions,
    agent,
    agents,
    audit,
    context,
    generations,
    lines,
    live,
    manage,
    money,
    recall,
    rejected,
    settings,
    sign_in,
    work,
)

_PAGES = (
    *(sign_in.router, agents.router, agent.router, actions.router, context.router, generations.router, recall.router),
    *(
        rejected.router,
        lines.router,
        audit.router,
        settings.router,
        manage.router,
        work.router,
        money.router,
        live.router,
    ),
)


def with_pages(app: FastAPI) -> FastAPI:
    """The app, with pages under /ui beside what it serves."""
    pages = APIRouter(prefix="/ui", include_in_schema=False)
    for router in _PAGES:
        pages.include_router(router)
    app.include_router(pages)
    app.add_route("/ui", _first, include_in_schema=False)
    app.add_route("/ui/static/{name}", static_files.serve, include_in_schema=False)
    app.add_exception_handler(Exception, _unexpected(app.exception_handlers[Exception]))
    around = app.router.lifespan_context

    @asynccontextmanager
    async def living(inner: FastAPI) -> AsyncIterator[None]:
        async with around(inner):
            state = inner.state.app_state
            inner.state.live = Live(state.memory)
            async with SharedMemory(state.settings, tally=False) as inner.state.pages:
                yield
            await inner.state.live.close()

    app.router.lifespan_context = living
    return app


async def _first(request: Request) -> Response:
    return RedirectResponse(f"{request.scope.get('root_path', '')}/ui/agents", 303)


def _unexpected(tell: Any) -> Any:
    """What `tell` says of a fault of ours, as a page where a page was asked for."""

    async def told(request: Request, error: Exception) -> Response:
        answer: Response = await tell(request, error)
        if not request.url.path.startswith("/ui/"):
            return answer
        why = "This is our fault, and in the log of om api: load the page again, and tell us if it stays so."
        return failure(request, answer.status_code, why)

    return told

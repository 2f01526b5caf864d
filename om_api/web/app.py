"""The pages of an app: their routes, their files, and the memory that they read, which tells nobody of contexts looked at."""

from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from typing import Any

from fastapi import APIRouter, FastAPI
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import RedirectResponse, Response

from om_api.domain.caching import LRU
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
    figures,
    generations,
    lines,
    live,
    manage,
    models,
    money,
    recall,
    rejected,
    reviews,
    settings,
    sign_in,
    threads,
    work,
    working_memory,
)

_OF_AGENTS = (
    *(agents.router, agent.router, actions.router, lines.router, threads.router, context.router, generations.router),
    *(recall.router, rejected.router, settings.router, manage.router, working_memory.router),
)
_OF_ALL = (
    sign_in.router,
    figures.router,
    reviews.router,
    work.router,
    money.router,
    live.router,
    models.router,
    audit.router,
)
_OURS = "This is our fault, and in the log of om api: load the page again, and tell us if it stays so."
_NONE = "There is no such page: begin at the agents."
_OPEN = 10_000  # pages
_Handler = Callable[[Request, Any], Any]


def with_pages(app: FastAPI) -> FastAPI:
    """The app, with pages under /ui beside what it serves."""
    pages = APIRouter(prefix="/ui", include_in_schema=False)
    for router in (*_OF_ALL, *_OF_AGENTS):
        pages.include_router(router)
    app.include_router(pages)
    app.add_route("/ui", _first, include_in_schema=False)
    app.add_route("/ui/static/{name}", static_files.serve, include_in_schema=False)
    for kind, why in ((HTTPException, _NONE), (Exception, _OURS)):
        app.add_exception_handler(kind, _on_a_page(app.exception_handlers[kind], why))
    app.router.lifespan_context = _living_beside(app.router.lifespan_context)
    return app


def _living_beside(around: Any) -> Any:
    """What pages need for as long as the app lives, beside what it needs itself."""

    @asynccontextmanager
    async def living(app: FastAPI) -> AsyncIterator[None]:
        async with around(app):
            state = app.state.app_state
            app.state.live = Live(state.memory)
            app.state.open_pages = LRU[tuple[str, str], bool](_OPEN)  # by session and path: their readers were told of
            async with SharedMemory(state.settings, tally=False) as app.state.pages:
                yield
            await app.state.live.close()

    return living


async def _first(request: Request) -> Response:
    return RedirectResponse(f"{request.scope.get('root_path', '')}/ui/agents", 303)


def _on_a_page(tell: _Handler, why: str) -> _Handler:
    """What `tell` says of an error that no page's route has caught; as a page where one was asked for."""

    async def told(request: Request, error: Any) -> Response:
        answer: Response = await tell(request, error)
        return failure(request, answer.status_code, why) if request.url.path.startswith("/ui/") else answer

    return told

"""The app: every room's routes, one state for all of them, and the document that describes it."""

import asyncio
import time
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress
from importlib.metadata import version
from typing import Any

import msgspec
from fastapi import FastAPI, Request, Response
from fastapi.responses import HTMLResponse, RedirectResponse
from starlette.types import ASGIApp

from om_api.client.async_memory import AsyncObservationalMemory
from om_api.client.remembered.context_usage import TELL_S
from om_api.domain.errors import StoreError
from om_api.http.reference import page
from om_api.http.requests.app_state import AppState, SharedMemory
from om_api.http.requests.replies import KINDS, schemas
from om_api.http.routes import (
    agents,
    audit,
    backup,
    contexts,
    costs,
    erase,
    events,
    force,
    health,
    hooks,
    mcp,
    messages,
    migration,
    models,
    observations,
    over_time,
    raw_messages,
    recall,
    recall_tool,
    redact,
    reflections,
    rejected,
    resources,
    stream_tokens,
    threads,
    webhooks,
)
from om_api.http.routes import (
    settings as settings_routes,
)
from om_api.http.routes.by_hand import extracted, lines, pins, reviews, share_tool, working_memory, working_memory_tool
from om_api.http.serving import problems
from om_api.http.serving.connections import Connections
from om_api.http.serving.cors import open_to
from om_api.http.serving.log import Logged
from om_api.http.serving.named_paths import NamedPaths
from om_api.http.serving.server import Shutdown
from om_api.http.serving.shares import Shares
from om_api.http.serving.streams import Streams
from om_api.http.serving.traced import Traced
from om_api.http.serving.uses import Uses
from om_api.metrics.pushing import keep_pushing
from om_api.metrics.scraper import Scraper
from om_api.settings import Settings
from om_api.store.driver.async_connection import AsyncConnection, open_async_client
from om_api.store.memory.keys import keys_of
from om_api.telemetry import opening as telemetry

_WRITTEN_AND_READ = (
    messages.router,
    raw_messages.router,
    contexts.router,
    recall.router,
    recall_tool.router,
    threads.router,
    threads.names,
    resources.threads,
    observations.router,
    lines.router,
    pins.router,
    working_memory.router,
    working_memory_tool.router,
    share_tool.router,
    extracted.router,
    reflections.router,
    reviews.router,
)
_OPERATED = (
    *(
        agents.router,
        over_time.router,
        resources.router,
        settings_routes.router,
        hooks.router,
        models.router,
        erase.router,
        redact.router,
    ),
    *(migration.router, force.router, rejected.router, costs.router, backup.router),
    *(events.router, stream_tokens.router, webhooks.router, audit.router),
)
_REFRESH_S = 2.0
_AGENTS_S = 1.0
USED_S = 60.0  # between two notes of which keys were used
DESCRIPTION = """\
Observational memory over HTTP. Send a key as `Authorization: Bearer om_…`. Ids are 1 to 200 of A-Z a-z 0-9 . _ : @ + -.
Every list comes in pages: pass `next` back as `cursor`. Every error is a problem (RFC 9457) that says what is wrong,
where, and what to do; a 503 says in `stored` what became of the write, and may be repeated with the same ids."""


def make_app(settings: Settings, *, locked: bool = True, timeout: float = 5.0) -> FastAPI:
    """The app for a store; connects at the first request. Without `locked` nobody needs a key: bind it to loopback."""
    telemetry.begin(settings, "cortex-om-api")
    app = Described(
        title="Observational memory",
        version=version("cortex-om"),
        description=DESCRIPTION,
        servers=[{"url": "/", "description": "where this document is"}],
        lifespan=lambda app: _living(app, settings, locked=locked, patience=timeout),
        openapi_url=None,  # it would be written anew for everybody who asks
        docs_url=None,  # its page loads scripts from elsewhere
        redoc_url=None,
        redirect_slashes=False,
        generate_unique_id_function=lambda route: route.name,
    )
    app.state.connections = Connections(settings.memory.api)
    app.state.streams, app.state.stopping = Streams(settings.memory.api), Shutdown()
    app.state.origins = settings.memory.api.cors_origins if locked else ()
    for router in (*_WRITTEN_AND_READ, *_OPERATED, health.router, health.figures, mcp.router):
        app.include_router(router)
    problems.install(app)
    app.add_middleware(NamedPaths)
    return app


@asynccontextmanager
async def _living(app: FastAPI, settings: Settings, *, locked: bool, patience: float) -> AsyncIterator[None]:
    memory = SharedMemory(settings, timeout=patience)
    connection = AsyncConnection(open_async_client(settings.redis_url, patience))
    scraper = Scraper(settings, timeout=patience)
    shares, streams, stopping = Shares(settings.memory.api), app.state.streams, app.state.stopping
    keys = keys_of(settings)
    state = AppState(settings, memory, keys, connection, scraper, shares, streams, stopping, locked, Uses())
    app.state.app_state = state
    kept = (
        *(_keep_fresh(state), _keep_telling(memory), _keep_uses(state), _keep_agents(memory)),
        keep_pushing(settings, scraper),
    )
    tasks = [asyncio.create_task(each) for each in kept]
    async with mcp.opened(memory) as app.state.mcp:
        yield
    for task in tasks:
        task.cancel()
    await asyncio.gather(*tasks, return_exceptions=True)
    await state.close()


async def _keep_fresh(state: AppState) -> None:
    """Take up changed settings as the workers do; what cannot be in force is among `problems` of the statistics."""
    while True:
        await state.refresh()
        await asyncio.sleep(_REFRESH_S)


async def _keep_telling(memory: AsyncObservationalMemory) -> None:
    """Tell what the contexts served amounted to, where nobody pushes too: who is killed loses half a minute of figures."""
    while True:
        await asyncio.sleep(TELL_S)
        await memory.tell()


async def _keep_agents(memory: SharedMemory) -> None:
    """Read all agents while somebody looks at them: as long as that takes, others have the loop for as long again."""
    while True:
        began, more = time.monotonic(), False
        with suppress(StoreError):  # another time
            more = await memory.read_agents()
        await asyncio.sleep(time.monotonic() - began if more else _AGENTS_S)


async def _keep_uses(state: AppState) -> None:
    """Tell which keys were used."""
    while True:
        await asyncio.sleep(USED_S)
        await state.tell_uses()


async def _to_the_page(_: Request) -> Response:
    return RedirectResponse("docs")


class Described(FastAPI):
    """An app whose document knows our own values, and what a key is; it is written once, and so is its page."""

    def build_middleware_stack(self) -> ASGIApp:
        """Put our own around everything else: what fails is traced and logged, and may be read by a page, as what succeeds is."""
        return Traced(Logged(open_to(self.state.origins, super().build_middleware_stack())))

    def setup(self) -> None:
        """Serve the document, and its page."""
        self.add_route("/v1/openapi.json", self._document, include_in_schema=False)
        self.add_route("/docs", self._page, include_in_schema=False)
        self.add_route("/", _to_the_page, include_in_schema=False)

    async def _document(self, _: Request) -> Response:
        if not hasattr(self.state, "document"):
            self.state.document = msgspec.json.encode(self.openapi())
        return Response(self.state.document, media_type="application/json")

    async def _page(self, _: Request) -> Response:
        if not hasattr(self.state, "page"):
            self.state.page = page.render(self.openapi())
        return HTMLResponse(self.state.page, headers=page.HEADERS)

    def openapi(self) -> dict[str, Any]:
        """The OpenAPI document."""
        if not self.openapi_schema:
            components = super().openapi().setdefault("components", {})
            components.setdefault("schemas", {}).update(schemas(KINDS))
            components["securitySchemes"] = {"key": {"type": "http", "scheme": "bearer", "bearerFormat": "om_…"}}
        return super().openapi()

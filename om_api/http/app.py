"""The app: every room's routes, one house for all of them, and the document that describes it."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from importlib.metadata import version
from typing import Any

import msgspec
from fastapi import FastAPI, Request, Response
from fastapi.openapi.utils import get_openapi

from om_api.async_key_ring import AsyncKeyRing
from om_api.async_memory import AsyncObservationalMemory
from om_api.http import (
    asking,
    backup,
    contexts,
    costs,
    events,
    health,
    messages,
    metrics,
    observations,
    problems,
    reflections,
    rejected,
    resources,
    threads,
)
from om_api.http.connections import Connections
from om_api.http.house import House, SharedMemory
from om_api.http.log import Logged
from om_api.http.replies import KINDS, schemas
from om_api.http.shares import Shares
from om_api.http.stopping import Stopping
from om_api.http.streams import Streams
from om_api.metrics.scraper import Scraper
from om_api.served import TELL_S
from om_api.settings import Settings

_ROOMS = (
    messages,
    contexts,
    threads,
    observations,
    reflections,
    resources,
    asking,
    rejected,
    costs,
    backup,
    events,
    health,
    metrics,
)
_REFRESH_S = 2.0
DESCRIPTION = """\
Observational memory over HTTP. Send a key as `Authorization: Bearer om_…`. Ids are 1 to 200 of A-Z a-z 0-9 . _ : @ + -.
Every list comes in pages: pass `next` back as `cursor`. Every error is a problem (RFC 9457) that says what is wrong,
where, and what to do; a 503 says in `stored` what became of the write, and may be repeated with the same ids."""


def make_app(settings: Settings, *, locked: bool = True, timeout: float = 5.0) -> FastAPI:
    """The app for a store; connects at the first request. Without `locked` nobody needs a key: bind it to loopback."""

    @asynccontextmanager
    async def living(app: FastAPI) -> AsyncIterator[None]:
        memory, shares = SharedMemory(settings, timeout=timeout), Shares(settings.memory.api)
        keys, scraper = AsyncKeyRing(settings, timeout=timeout), Scraper(settings, timeout=timeout)
        app.state.house = House(settings, memory, keys, scraper, shares, locked)
        tasks = [asyncio.create_task(_keep_fresh(settings)), asyncio.create_task(_keep_telling(memory))]
        yield
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)
        await app.state.house.close()

    app = Described(
        title="Observational memory",
        version=version("observational-memory"),
        description=DESCRIPTION,
        lifespan=living,
        openapi_url=None,  # it would be written anew for everybody who asks
        docs_url=None,  # its page loads scripts from elsewhere
        redoc_url=None,
        redirect_slashes=False,
        generate_unique_id_function=lambda route: route.name,
    )
    app.state.connections = Connections(settings.memory.api)
    app.state.streams, app.state.stopping = Streams(settings.memory.api), Stopping()
    app.add_middleware(Logged)
    for room in _ROOMS:
        app.include_router(room.router)
    problems.install(app)
    return app


async def _keep_fresh(settings: Settings) -> None:
    """Take up changed files as the workers do; a broken one is among `problems` of the statistics."""
    while True:
        await asyncio.sleep(_REFRESH_S)
        await asyncio.to_thread(settings.refresh)


async def _keep_telling(memory: AsyncObservationalMemory) -> None:
    """Tell what the contexts served amounted to, where nobody pushes too: who is killed loses half a minute of figures."""
    while True:
        await asyncio.sleep(TELL_S)
        await memory.tell()


class Described(FastAPI):
    """An app whose document knows our own values, and what a key is; it is written once."""

    def setup(self) -> None:
        """Serve the document."""
        self.add_route("/v1/openapi.json", self._document, include_in_schema=False)

    async def _document(self, _: Request) -> Response:
        if not hasattr(self.state, "document"):
            self.state.document = msgspec.json.encode(self.openapi())
        return Response(self.state.document, media_type="application/json")

    def openapi(self) -> dict[str, Any]:
        """The OpenAPI document."""
        if not self.openapi_schema:
            found = get_openapi(
                title=self.title, version=self.version, description=self.description, routes=self.routes
            )
            components = found.setdefault("components", {})
            components.setdefault("schemas", {}).update(schemas(KINDS))
            components["securitySchemes"] = {"key": {"type": "http", "scheme": "bearer", "bearerFormat": "om_…"}}
            self.openapi_schema = found
        return self.openapi_schema

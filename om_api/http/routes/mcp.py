"""MCP: the memory as tools of a model's host. Keys, roles, rates and shares are those of every other route."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from functools import partial

import msgspec
from fastapi import APIRouter, HTTPException, Request, Response

from om_api.client.async_memory import AsyncObservationalMemory
from om_api.domain.api_keys import Role
from om_api.domain.errors import InvalidInputError
from om_api.domain.extras import missing
from om_api.http.requests.guard import Guarded, Handler, key_of, needs
from om_api.http.requests.replies import reply
from om_api.http.serving.limits import MAX_CALL, SMALL_BODY
from om_api.http.serving.shares import SHARE

try:
    from om_api.mcp.caller import Caller, caller_of
    from om_api.mcp.exchange import StatelessExchange, check_large
except ModuleNotFoundError as error:
    _LACKING = str(missing(error, "mcp"))
else:
    _LACKING = ""

PATH = "/mcp"
METADATA = f"/.well-known/oauth-protected-resource{PATH}"  # where RFC 9728 has it
_UNAUTHORIZED = 401


class ProtectedResource(msgspec.Struct, frozen=True):
    """What a host is told that has no key (RFC 9728). Nobody gives out tokens over HTTP: `om keys` makes them."""

    resource: str
    scopes_supported: tuple[str, ...] = tuple(role.value for role in Role)
    bearer_methods_supported: tuple[str, ...] = ("header",)
    resource_name: str = "Observational memory"


class McpRoute(Guarded):
    """A route whose refusals say where its metadata are, as hosts of MCP expect."""

    takes_body = True

    def get_route_handler(self) -> Handler:
        """Ask who is there, and tell whoever is not known how to be."""
        handle = super().get_route_handler()

        async def handled(request: Request) -> Response:
            if _LACKING:
                raise HTTPException(501, _LACKING)
            try:
                return await handle(request)
            except HTTPException as refusal:
                if refusal.status_code == _UNAUTHORIZED:
                    raise HTTPException(_UNAUTHORIZED, refusal.detail, _challenge(request)) from None
                raise

        return handled


router = APIRouter(include_in_schema=False)
_guarded = APIRouter(route_class=McpRoute)


@asynccontextmanager
async def opened(memory: AsyncObservationalMemory) -> "AsyncIterator[StatelessExchange | None]":
    """What answers requests of MCP while the block runs; None where the extra is not installed."""
    if _LACKING:
        yield None
        return
    exchange = StatelessExchange(memory, _caller, _told, MAX_CALL)
    async with exchange.open():
        yield exchange


@_guarded.post(PATH, **needs(Role.READER, most=MAX_CALL))
async def answer(request: Request) -> Response:
    """One request of the protocol; which tools there are depends on the key's role."""
    request.state.caller = caller_of(
        key_of(request), request.query_params.get("resource_id", ""), request.query_params.get("thread_id", "")
    )
    exchange: StatelessExchange = request.app.state.mcp
    asked = await request.body()
    if len(asked) > SMALL_BODY:
        try:
            await SHARE.get().work(partial(check_large, asked, SMALL_BODY))
        except InvalidInputError as error:
            raise HTTPException(413, str(error)) from None
    status, headers, body = await exchange.answer(request.scope, asked)
    return Response(body, status, headers)


@router.get(METADATA)
async def metadata(request: Request) -> Response:
    """What protects the memory, for anybody."""
    if _LACKING:
        raise HTTPException(501, _LACKING)
    return reply(ProtectedResource(f"{_origin(request)}{PATH}"))


router.include_router(_guarded)


def _caller(request: Request) -> "Caller":
    found: Caller = request.state.caller
    return found


def _told(error: Exception) -> str | None:
    """What a refusal of ours says, such as of a key that has too much in flight."""
    return str(error.detail) if isinstance(error, HTTPException) else None


def _challenge(request: Request) -> dict[str, str]:
    wrong = ['error="invalid_token"'] if "authorization" in request.headers else []
    where = f'resource_metadata="{_origin(request)}{METADATA}"'
    return {"WWW-Authenticate": f"Bearer {', '.join([*wrong, where])}"}


def _origin(request: Request) -> str:
    """Where we are, as whoever asks calls it; a Host that is none is not repeated."""
    return f"{request.url.scheme}://{request.url.netloc}"

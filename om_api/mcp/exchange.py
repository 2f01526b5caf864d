"""Streamable HTTP without sessions: one request in, one answer out, so that any process behind an address serves any client."""

import asyncio
from collections.abc import AsyncIterator, Callable, MutableMapping
from contextlib import asynccontextmanager
from functools import partial
from typing import Any, Literal, NamedTuple

import msgspec
from mcp.server.streamable_http_manager import StreamableHTTPSessionManager

from om_api.client.async_memory import AsyncObservationalMemory
from om_api.domain.errors import InvalidInputError
from om_api.domain.learned import learned
from om_api.domain.texts.surrogates import decode_json
from om_api.mcp.caller import Caller
from om_api.mcp.prompt import GUIDANCE
from om_api.mcp.server import Asking, make_server
from om_api.mcp.toolbox import Told

Message = MutableMapping[str, Any]
_LARGE_TOOL = "add_messages"


class Exchanged(NamedTuple):
    """An answer: its status, its headers, its body."""

    status: int
    headers: dict[str, str]
    body: bytes


@learned
class _Params(msgspec.Struct):
    name: str = ""
    arguments: msgspec.Raw = msgspec.Raw()


@learned
class _ToolCall(msgspec.Struct):
    method: Literal["tools/call"]
    params: _Params


@learned
class _Turn(msgspec.Struct, forbid_unknown_fields=True):
    role: str
    content: str
    id: str | None = None


@learned
class _AddMessages(msgspec.Struct, forbid_unknown_fields=True):
    messages: list[_Turn] | str
    resource_id: str | None = None
    thread_id: str | None = None


def check_large(body: bytes, most: int) -> None:
    """Raise InvalidInputError for a large request that the SDK cannot parse quickly, as it does on the event loop.

    Only the arguments of `add_messages` may take more than `most` bytes, and they must consist of few long texts.
    """
    try:
        params = decode_json(body, partial(msgspec.json.decode, type=_ToolCall)).params
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
        params = _Params()
    arguments = bytes(params.arguments)
    if (size := len(body) - len(arguments)) > most:
        raise InvalidInputError(
            f"the request is too large: {size:,} bytes without a tool's arguments (maximum {most:,}); send one call"
        )
    if params.name != _LARGE_TOOL:
        raise InvalidInputError(
            f"the request is too large: {len(body):,} bytes (maximum {most:,}); only {_LARGE_TOOL} takes more"
        )
    try:
        found = decode_json(arguments, partial(msgspec.json.decode, type=_AddMessages)).messages
        if isinstance(found, str):
            decode_json(found.encode(), partial(msgspec.json.decode, type=list[_Turn]))
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError) as error:
        raise InvalidInputError(
            f"arguments of {_LARGE_TOOL}: {error}; send a smaller call, as its schema says"
        ) from None


class StatelessExchange:
    """Answers requests that are whole and whose key was looked at; `caller` finds in one who asks.

    The SDK's checks of Host and Origin are off: whoever lets a request in here has made better ones (decision 0061).
    """

    def __init__(
        self, memory: AsyncObservationalMemory, caller: Callable[[Any], Caller], told: Told, most: int
    ) -> None:
        def asking(request: Asking) -> Caller:
            return caller(request.request)

        server = make_server(memory, asking, about=GUIDANCE, told=told)
        self._manager = StreamableHTTPSessionManager(
            server, json_response=True, stateless=True, max_request_body_size=most
        )

    @asynccontextmanager
    async def open(self) -> AsyncIterator[None]:
        """Answer while the block runs."""
        async with self._manager.run():
            yield

    async def answer(self, scope: MutableMapping[str, Any], body: bytes) -> Exchanged:
        """What a request is answered, all of it."""
        started: Message = {}
        pieces: list[bytes] = []
        unread = [body]

        async def receive() -> Message:
            if not unread:  # whoever asks on waits for the other side to hang up: our guard sees to that
                await asyncio.get_running_loop().create_future()
            return {"type": "http.request", "body": unread.pop(), "more_body": False}

        async def send(message: Message) -> None:
            if message["type"] == "http.response.start":
                started.update(message)
            else:
                pieces.append(message.get("body", b""))

        await self._manager.handle_request(scope, receive, send)
        headers = {name.decode("latin-1"): value.decode("latin-1") for name, value in started["headers"]}
        return Exchanged(started["status"], headers, b"".join(pieces))

"""Streamable HTTP without sessions: one request in, one answer out, so that any process behind an address serves any client."""

import asyncio
from collections.abc import AsyncIterator, Callable, MutableMapping
from contextlib import asynccontextmanager
from typing import Any, Literal, NamedTuple

import msgspec
from mcp.server.streamable_http_manager import StreamableHTTPSessionManager

from om_api.client.async_memory import AsyncObservationalMemory
from om_api.mcp.caller import Caller
from om_api.mcp.prompt import GUIDANCE
from om_api.mcp.server import Asking, make_server
from om_api.mcp.toolbox import Told

Message = MutableMapping[str, Any]


class Exchanged(NamedTuple):
    """An answer: its status, its headers, its body."""

    status: int
    headers: dict[str, str]
    body: bytes


class _Params(msgspec.Struct):
    arguments: msgspec.Raw = msgspec.Raw()


class _ToolCall(msgspec.Struct):
    method: Literal["tools/call"]
    params: _Params


def size_without_arguments(body: bytes) -> int:
    """Bytes of a request without the arguments of a tool call, which our own models check.

    The SDK checks everything else, and reports each item of a list: it must be small.
    """
    try:
        call = msgspec.json.decode(body, type=_ToolCall)
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
        return len(body)
    return len(body) - len(bytes(call.params.arguments))


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

"""A server of one host, which started it: the protocol goes over stdin and stdout, and everything else to stderr."""

import asyncio
import os
import signal
import threading
from collections.abc import AsyncIterator
from contextlib import suppress
from typing import Any

from mcp.server.stdio import stdio_server

from om_api.client.async_memory import AsyncObservationalMemory
from om_api.domain.errors import StoreError
from om_api.mcp.caller import Caller
from om_api.mcp.prompt import guidance
from om_api.mcp.server import make_server
from om_api.settings import Settings
from om_api.settings.logs import library_log

_STDIN = 0
_WAITING = 16  # lines that were read and not taken up yet
_TOLD = (signal.SIGINT, signal.SIGTERM)


async def serve(settings: Settings, caller: Caller) -> None:
    """Answer until stdin ends, or a signal says so. A store that is away is said once, and by each call until it is there."""
    async with AsyncObservationalMemory(settings) as memory:
        looking = asyncio.create_task(_look(memory))
        answering = asyncio.create_task(_answer(memory, caller))
        with suppress(NotImplementedError):  # no loop of Windows hears signals: there Ctrl-C ends the process
            for number in _TOLD:
                asyncio.get_running_loop().add_signal_handler(number, answering.cancel)
        await asyncio.wait([answering])
        looking.cancel()
        with suppress(asyncio.CancelledError):
            await answering


async def _answer(memory: AsyncObservationalMemory, caller: Caller) -> None:
    server = make_server(memory, lambda _: caller, about=guidance(caller.said))
    given: Any = _lines(_STDIN)
    async with stdio_server(stdin=given) as (incoming, outgoing):
        await server.run(incoming, outgoing, server.create_initialization_options())


async def _lines(number: int) -> AsyncIterator[str]:
    """The lines of a file, read by a thread for which nobody has to wait: the SDK's own would hold up the end until one comes."""
    loop, room = asyncio.get_running_loop(), threading.Semaphore(_WAITING)
    read = asyncio.Queue[bytes]()

    def reading() -> None:
        with os.fdopen(os.dup(number), "rb") as pipe, suppress(RuntimeError):  # the loop may have ended
            for line in pipe:
                room.acquire()
                loop.call_soon_threadsafe(read.put_nowait, line)
            loop.call_soon_threadsafe(read.put_nowait, b"")

    threading.Thread(target=reading, name="stdin", daemon=True).start()
    while line := await read.get():
        room.release()
        yield line.decode("utf-8", "replace")


async def _look(memory: AsyncObservationalMemory) -> None:
    try:
        await memory.ping()
    except StoreError as error:
        library_log().warning("store_unavailable", error=Settings.safe_url(str(error)))

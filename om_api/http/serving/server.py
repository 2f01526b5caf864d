"""Running the app in a process of its own; told to stop, whatever only waits in it ends, so that requests in flight can."""

import asyncio
import ipaddress
import signal
import socket
import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from types import FrameType
from typing import Any

import uvicorn
from fastapi import FastAPI

from om_api.domain.errors import SettingsError
from om_api.http.serving.limits import MAX_WAIT_S
from om_api.http.serving.protocol import Protocol

_TICKS_A_SECOND = 10  # of uvicorn's
_TOLD_EVERY_S = 10
_SWITCH_S = 0.0005  # how long a thread with heavy work may let the event loop wait; Python's own are five milliseconds
_IDLE_S = 75  # proxies keep theirs for a minute: whoever closes first cuts off what the other one is just sending


def is_loopback(host: str) -> bool:
    """Whether only this machine reaches an address; names other than localhost may mean anything."""
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return host == "localhost"


def check_free(host: str, port: int) -> None:
    """Raise SettingsError unless this machine can listen on an address and a port (0: any free one)."""
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    try:
        socket.create_server((host, port), family=family).close()
    except OSError as error:
        raise SettingsError(
            f"cannot listen on {host}, port {port}: {error.strerror}; name a free one with --port or OM_API_PORT, "
            "or stop what listens there"
        ) from None


class Shutdown:
    """Whether one app of one event loop was told to stop."""

    def __init__(self) -> None:
        self._told = False
        self._waits: set[asyncio.Timeout] = set()

    def tell(self) -> None:
        """End every wait, now and from now on."""
        self._told = True
        for wait in self._waits:
            wait.reschedule(asyncio.get_running_loop().time())

    @asynccontextmanager
    async def ends(self) -> AsyncIterator[None]:
        """A wait that is given up when the app is told to stop, which raises TimeoutError."""
        async with asyncio.timeout(0 if self._told else None) as wait:
            self._waits.add(wait)
            try:
                yield
            finally:
                self._waits.discard(wait)


class Server(uvicorn.Server):
    """One that looks after its connections, and has its streams of events end when it is told to stop."""

    async def on_tick(self, counter: int) -> bool:
        """Look at every connection once a second, and tell now and then what was turned away; uvicorn calls it often."""
        if counter % _TICKS_A_SECOND == 0:
            now = asyncio.get_running_loop().time()
            for connection in list(self.server_state.connections):
                if isinstance(connection, Protocol):
                    connection.look(now)
        if counter % (_TOLD_EVERY_S * _TICKS_A_SECOND) == 0:
            self.config.app.state.connections.tell()  # type: ignore[union-attr]
        return await super().on_tick(counter)

    HEARD = (signal.SIGINT, signal.SIGTERM)
    deaf: frozenset[int] = frozenset()

    def handle_exit(self, sig: int, frame: FrameType | None) -> None:
        """Stop, on a signal; one that our shell has us ignore stays ignored."""
        if sig in self.deaf:
            return
        self.config.app.state.streams.end()  # type: ignore[union-attr]
        super().handle_exit(sig, frame)

    async def shutdown(self, sockets: list[socket.socket] | None = None) -> None:
        """Stop listening, have nobody wait for workers, let what is in flight end, and close the app."""
        self.config.app.state.stopping.tell()  # type: ignore[union-attr]
        await super().shutdown(sockets)


def configured(app: FastAPI, **options: Any) -> uvicorn.Config:
    """How uvicorn serves an app: over connections that are bounded."""
    return uvicorn.Config(
        app,
        http=Protocol,
        log_config=None,  # the process has its own; requests are told by log.py
        access_log=False,
        ws="none",  # nothing here speaks it, and whoever tried would be logged with the question asked
        server_header=False,
        timeout_keep_alive=_IDLE_S,
        timeout_graceful_shutdown=round(MAX_WAIT_S),
        **options,
    )


def serve(app: FastAPI, host: str, port: int) -> int:
    """Answer requests until told to stop, then finish those in flight; the exit code: 1 when it could not begin."""
    sys.setswitchinterval(_SWITCH_S)
    server = Server(configured(app, host=host, port=port))
    server.deaf = frozenset(number for number in Server.HEARD if signal.getsignal(number) == signal.SIG_IGN)
    # uvicorn puts these back and raises again what it was told by: a process that did as it was told would die of it
    for number in Server.HEARD:
        signal.signal(number, server.handle_exit)
    server.run()
    return 0 if server.started else 1

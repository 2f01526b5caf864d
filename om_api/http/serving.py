"""Running the app in a process of its own."""

import ipaddress
import signal
import socket
from types import FrameType

import uvicorn

from om_api.errors import SettingsError
from om_api.http.app import make_app
from om_api.http.limits import MAX_WAIT_S
from om_api.settings import Settings

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


class Server(uvicorn.Server):
    """One that has its streams of events end when it is told to stop: it waits for every response."""

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


def serve(settings: Settings, host: str, port: int, *, locked: bool) -> int:
    """Answer requests until told to stop, then finish those in flight; the exit code: 1 when it could not begin."""
    config = uvicorn.Config(
        make_app(settings, locked=locked),
        host=host,
        port=port,
        log_config=None,  # the process has its own; requests are told by log.py
        access_log=False,
        ws="none",  # nothing here speaks it, and whoever tried would be logged with the question asked
        server_header=False,
        timeout_keep_alive=_IDLE_S,
        timeout_graceful_shutdown=round(MAX_WAIT_S),
    )
    server = Server(config)
    server.deaf = frozenset(number for number in Server.HEARD if signal.getsignal(number) == signal.SIG_IGN)
    # uvicorn puts these back and raises again what it was told by: a process that did as it was told would die of it
    for number in Server.HEARD:
        signal.signal(number, server.handle_exit)
    server.run()
    return 0 if server.started else 1

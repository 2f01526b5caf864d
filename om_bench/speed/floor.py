"""The floor of reading: the same bytes from the same server, over a bare socket that only counts them."""

from __future__ import annotations

import socket
from collections.abc import Sequence
from typing import Any
from urllib.parse import unquote, urlsplit

from om_api.store.driver.steps import pack

_BUFFER = 2 * 2**20
_SILENCE_S = 0.2


class Floor:
    """Commands in one MULTI/EXEC, asked over a socket of its own and read into one large buffer, never parsed.

    The replies must have the same length every time.
    """

    def __init__(self, url: str, commands: Sequence[tuple[Any, ...]]) -> None:
        parts = urlsplit(url)
        self._socket = socket.create_connection((parts.hostname or "127.0.0.1", parts.port or 6379))
        self._socket.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        self._into = memoryview(bytearray(_BUFFER))
        if parts.password:
            self._ask(pack([("AUTH", *filter(None, [parts.username]), unquote(parts.password))]))
        if parts.path.strip("/"):
            self._ask(pack([("SELECT", parts.path.strip("/"))]))
        self._question = pack(commands)
        self.length = self._ask(self._question)

    def read(self) -> None:
        """Read all of it once."""
        self._socket.sendall(self._question)
        got = 0
        while got < self.length:
            got += self._socket.recv_into(self._into[got:])

    def close(self) -> None:
        """Close the socket."""
        self._socket.close()

    def _ask(self, question: bytes) -> int:
        """Ask something and wait for the end of the answer; its length."""
        self._socket.sendall(question)
        self._socket.settimeout(_SILENCE_S)
        got = 0
        try:
            while True:
                got += self._socket.recv_into(self._into)
        except TimeoutError:
            return got
        finally:
            self._socket.settimeout(None)

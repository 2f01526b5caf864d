"""The floor of reading: as many bytes from the same server over a bare socket."""

from __future__ import annotations

import socket
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

if TYPE_CHECKING:
    import redis

_KEY = "om-bench:floor"


class Floor:
    """One string of `size` bytes in the store at `url`, read over a socket of its own with a buffer that holds all of it."""

    def __init__(self, url: str, size: int) -> None:
        parts = urlsplit(url)
        self._socket = socket.create_connection((parts.hostname or "127.0.0.1", parts.port or 6379))
        self._socket.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        self._into = memoryview(bytearray(size + 64))
        if parts.password:
            self._ask("AUTH", *filter(None, [parts.username]), parts.password)
        self._ask("SET", _KEY, "x" * size)
        self._question = _packed("GET", _KEY)
        self._length = len(f"${size}\r\n\r\n") + size

    def read(self) -> None:
        """Read all of it once."""
        self._socket.sendall(self._question)
        got = 0
        while got < self._length:
            got += self._socket.recv_into(self._into[got:])

    def close(self) -> None:
        """Take the string out of the store, and close the socket."""
        self._ask("UNLINK", _KEY)
        self._socket.close()

    def _ask(self, *words: str) -> None:
        self._socket.sendall(_packed(*words))
        self._socket.recv(64)


def _packed(*words: str) -> bytes:
    return "".join([f"*{len(words)}\r\n", *(f"${len(word.encode())}\r\n{word}\r\n" for word in words)]).encode()


def served(bare: redis.Redis) -> int:
    """How many bytes the server has sent so far."""
    return int(bare.info("stats")["total_net_output_bytes"])

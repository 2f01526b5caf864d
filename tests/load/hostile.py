"""A tenant with a key who asks for as much as he can, and sends what no client should; a process of its own.

`python -m load.hostile PORT TOKEN` goes on until it is terminated, and prints what it was answered, by what it did.
"""

import asyncio
import json
import signal
import sys
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import suppress

NAME = "hostile"
_ADDRESS, _STRANGERS = "127.0.0.2", "127.0.0.3"  # neither is the others': connections are counted by them
_WITH_A_KEY = ("slow body", "large push", "large context", "stream")
_THREADS = f"/v1/resources/{NAME}/threads"
DOES = ("header flood", "endless header", "pipelined", "half open", *_WITH_A_KEY)
_BLOCK = 65_536
_PARTS, _MESSAGES = 35_000, 8
_LATE_S = 30.0


class Hostile:
    """What it does, each as often as it is answered; `seen` counts the answers."""

    def __init__(self, port: int, token: str) -> None:
        self._port, self._key = port, f"Authorization: Bearer {token}\r\nHost: x\r\n"
        self.seen: Counter[str] = Counter()

    async def live(self) -> None:
        """Do everything at the same time."""
        flood = self._head(b"".join(b"a%d: b\r\n" % n for n in range(6_000)))
        endless = self._head(b"a" * _BLOCK)
        parts = [{"type": "text", "text": "x"}] * _PARTS
        said = [{"id": f"p-{n}", "role": "user", "content": parts, "tokens": 1} for n in range(_MESSAGES)]
        large = json.dumps({"messages": said}, separators=(",", ":")).encode()
        push = f"{_THREADS}/p/messages", "POST"
        crowd = {
            "header flood": [flood] * 2,
            "endless header": [endless],
            "pipelined": [self._send(b"GET /v1/openapi.json HTTP/1.1\r\nHost: x\r\n\r\n" * 500, 20)],
            "half open": [self._send(b"GET /healthz HTTP/1.1\r\nHost:")] * 300,
            "slow body": [self._send(self._asks(*push, 1_000_000) + b"x")] * 8,
            "large push": [self._send(self._asks(*push, len(large)) + large)] * 4,
            "large context": [self._send(self._asks(f"{_THREADS}/c/context?format=openai"))] * 8,
            "stream": [self._send(self._asks("/v1/events", more="Accept: text/event-stream\r\n"))] * 110,
        }
        await asyncio.gather(*(self._again(what, way) for what, ways in crowd.items() for way in ways))

    def _asks(self, path: str, method: str = "GET", length: int = 0, more: str = "") -> bytes:
        told = f"Content-Type: application/json\r\nContent-Length: {length}\r\nConnection: close\r\n{more}\r\n"
        return f"{method} {path} HTTP/1.1\r\n{self._key}{told}".encode()

    def _head(self, block: bytes) -> Callable[[], Iterator[bytes]]:
        def pieces() -> Iterator[bytes]:
            yield b"GET /healthz HTTP/1.1\r\nHost: x\r\na: "
            while True:
                yield block

        return pieces

    @staticmethod
    def _send(data: bytes, times: int = 1) -> Callable[[], Iterator[bytes]]:
        return lambda: (data for _ in range(times))

    async def _again(self, what: str, way: Callable[[], Iterator[bytes]]) -> None:
        while True:
            await self._once(what, way)
            await asyncio.sleep(0.5)

    async def _once(self, what: str, way: Callable[[], Iterator[bytes]]) -> None:
        answer = "none"
        address = _ADDRESS if what in _WITH_A_KEY else _STRANGERS
        try:
            async with asyncio.timeout(_LATE_S):
                reader, writer = await asyncio.open_connection("127.0.0.1", self._port, local_addr=(address, 0))
                sending = asyncio.ensure_future(_all(writer, way()))
                try:
                    answer = (await reader.read(12))[9:].decode() or "cut"
                    while await reader.read(_BLOCK):
                        pass
                finally:
                    sending.cancel()
                    writer.close()
        except (OSError, TimeoutError):
            pass
        finally:
            self.seen[f"{what}: {answer}"] += 1


async def _all(writer: asyncio.StreamWriter, pieces: Iterator[bytes]) -> None:
    with suppress(OSError):
        for piece in pieces:
            writer.write(piece)
            await writer.drain()


async def _main() -> None:
    hostile = Hostile(int(sys.argv[1]), sys.argv[2])
    living = asyncio.ensure_future(hostile.live())
    asyncio.get_running_loop().add_signal_handler(signal.SIGTERM, living.cancel)
    with suppress(asyncio.CancelledError):
        await living
    print(json.dumps(hostile.seen))  # noqa: T201


if __name__ == "__main__":
    asyncio.run(_main())

"""A provider on this machine that speaks chat completions: it thinks for a given time, and knows who asked it at once."""

import asyncio
import threading
from asyncio import StreamReader, StreamWriter
from contextlib import closing, suppress
from typing import Self

import msgspec

NOTES = "\n".join(
    [
        "<observations>",
        "Date: Nov 21, 2026",
        *(f"* 🟡 ({9 + n // 6:02}:{n % 6}0) User said what part {n} of the plan needs, and by when" for n in range(24)),
        "</observations>",
        "<current-task>Do what was said</current-task>",
    ]
)
_SAID = {
    "id": "1", "object": "chat.completion", "created": 1, "model": "thinking",
    "choices": [{"index": 0, "message": {"role": "assistant", "content": NOTES}, "finish_reason": "stop"}],
    "usage": {"prompt_tokens": 8_000, "completion_tokens": 600, "total_tokens": 8_600},
}  # fmt: skip
_BODY = msgspec.json.encode(_SAID)
_ANSWER = b"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: %d\r\n\r\n%s" % (len(_BODY), _BODY)
_BACKLOG = 2_000


class Thinking:
    """Listens at `url` while the `with` block lasts, and answers every call after `seconds`.

    `answered` is how many calls it answered, `most` how many it had in hand at the same time.
    """

    def __init__(self, seconds: float = 0.0) -> None:
        self.seconds = seconds
        self.answered = self.most = self._now = 0
        self._loop = asyncio.new_event_loop()

    @property
    def url(self) -> str:
        """Its address, as a model's base_url."""
        return f"http://127.0.0.1:{self._port}/v1"

    def __enter__(self) -> Self:
        self._thread = threading.Thread(target=self._loop.run_forever, name="thinking", daemon=True)
        self._thread.start()
        listening = asyncio.start_server(self._converse, "127.0.0.1", 0, backlog=_BACKLOG)
        self._server = asyncio.run_coroutine_threadsafe(listening, self._loop).result()
        self._port = self._server.sockets[0].getsockname()[1]
        return self

    def __exit__(self, *_: object) -> None:
        asyncio.run_coroutine_threadsafe(self._hang_up(), self._loop).result()
        self._loop.call_soon_threadsafe(self._loop.stop)
        self._thread.join()
        self._loop.close()

    async def _hang_up(self) -> None:
        self._server.close()
        talking = asyncio.all_tasks() - {asyncio.current_task()}
        for each in talking:
            each.cancel()
        await asyncio.gather(*talking, return_exceptions=True)

    async def _converse(self, reader: StreamReader, writer: StreamWriter) -> None:
        with suppress(asyncio.IncompleteReadError, ConnectionError, asyncio.CancelledError), closing(writer):
            while True:
                head = await reader.readuntil(b"\r\n\r\n")
                await reader.readexactly(_length(head))
                await self._think()
                writer.write(_ANSWER)

    async def _think(self) -> None:
        self._now += 1
        self.most = max(self.most, self._now)
        await asyncio.sleep(self.seconds)
        self._now -= 1
        self.answered += 1


def _length(head: bytes) -> int:
    lines = (line.partition(b":") for line in head.lower().split(b"\r\n"))
    return next(int(value) for name, _, value in lines if name == b"content-length")

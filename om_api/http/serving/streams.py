"""Server-sent events: one response that lasts, its heartbeats, and how many of them a process keeps open."""

import asyncio
import time
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import suppress

import msgspec
from fastapi import HTTPException
from starlette.responses import StreamingResponse
from starlette.types import Message, Receive, Scope, Send

from om_api.domain.errors import StoreError
from om_api.domain.events import Event, Told
from om_api.http.serving.limits import BEAT_S, LOOK_S, STALLED_S
from om_api.http.serving.shares import Lane, refusal
from om_api.settings.sections.api_settings import ApiSettings

Read = Callable[[str], Awaitable[Told]]
May = Callable[[], Awaitable[None]]
_RETRY_MS = 2_000
_HEADERS = {"Cache-Control": "no-store", "X-Accel-Buffering": "no"}


class Streams:
    """The open streams of one process: a bounded number, all of which end when it is told to stop."""

    def __init__(self, limits: ApiSettings) -> None:
        self.open = 0
        self.ending = False
        self._most, self._most_of_a_key = limits.streams, limits.streams_per_key

    def end(self) -> None:
        """Have every stream end within a second or two, and no new one begin."""
        self.ending = True

    def take(self, lane: Lane) -> None:
        """Count one more, of a key; raises HTTPException 503 where that is too many, 429 where they are of one key."""
        if lane.streams >= self._most_of_a_key:
            raise refusal(f"{lane.streams} streams of this key are open here already")
        if self.ending or self.open >= self._most:
            why = "this process is about to end" if self.ending else f"{self._most} streams are open here already"
            raise HTTPException(
                503, f"{why}: ask for pages (Accept: application/json), or repeat", {"Retry-After": "5"}
            )
        self.open += 1
        lane.streams += 1

    def give_back(self, lane: Lane) -> None:
        """Count one less."""
        self.open -= 1
        lane.streams -= 1


class Stream(StreamingResponse):
    """One stream that was taken; given back when it ends, whoever ends it."""

    def __init__(self, streams: Streams, lane: Lane, lines: AsyncIterator[bytes]) -> None:
        super().__init__(lines, headers=_HEADERS, media_type="text/event-stream")
        self._streams, self._lane = streams, lane

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Send until either side ends, or the other one takes nothing for 15 s: it would keep its place for good."""

        async def sending(message: Message) -> None:
            async with asyncio.timeout(STALLED_S):
                await send(message)

        try:
            with suppress(TimeoutError):
                await super().__call__(scope, receive, sending)
        finally:
            self._streams.give_back(self._lane)


async def lines(streams: Streams, read: Read, may: May, told: Told) -> AsyncIterator[bytes]:
    """The stream's text, from `told` on, until its reader may read no longer or the process is told to stop.

    `read` takes the place to go on from, and returns within about a second; nothing comes while the store is away. `may`
    raises HTTPException once the reader may no longer read; it is asked at every heartbeat.
    """
    yield b"retry: %d\n\n" % _RETRY_MS
    said, beat = "", time.monotonic()
    asked = beat
    while True:
        for event in told.events:
            yield written(event)
            said, beat = event.id, time.monotonic()
        if streams.ending:
            return
        if time.monotonic() - beat >= BEAT_S:
            yield heartbeat(told.after if told.after != said else "")
            said, beat = told.after, time.monotonic()
        try:
            if time.monotonic() - asked >= BEAT_S:
                await may()
                asked = time.monotonic()
            told = await read(told.after)
        except StoreError:
            await asyncio.sleep(LOOK_S)
            told = Told([], told.after)
        except HTTPException:
            return


def written(event: Event) -> bytes:
    """An event as it is sent."""
    return b"id: %s\nevent: %s\ndata: %s\n\n" % (event.id.encode(), event.kind.encode(), msgspec.json.encode(event))


def heartbeat(place: str = "") -> bytes:
    """A comment that keeps the connection; with a place, from which a reader goes on when it comes back."""
    return b": still here\n" + (b"id: %s\n\n" % place.encode() if place else b"\n")

"""What pages hear while they are open: one reader of the store's events in a process, however many pages listen."""

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from typing import Generic, TypeVar

from fastapi import HTTPException

from om_api.client.async_memory import AsyncObservationalMemory
from om_api.domain.errors import OMError, StoreError
from om_api.domain.events import Event
from om_api.http.serving.limits import BEAT_S, LOOK_S
from om_api.http.serving.streams import Streams
from om_api.web.pages.page_turns import PageTurns

T = TypeVar("T")
# what a page's stream says of events, and whether the page is to look again; of none: the store went away or came back
Written = Callable[[Sequence[Event]], tuple[bytes, bool]]
May = Callable[[], Awaitable[None]]
Missed = Callable[[], Awaitable[bool]]
CHANGE = b"event: om-change\ndata: \n\n"
MOST_PAGES = 1_000  # that listen in one process
MOST_OF_A_KEY = 64  # of them: each is a request in flight, of which a key has api.requests_per_key
_WAITING = 200  # events that a page which takes none may fall behind; then the oldest of them are left out
_AT_ONCE = 500


class Listener(Generic[T]):
    """The queue of what a page of a key has not been told yet; bounded, whatever happens.

    A page that is `to_look` again is told of nothing until it did, but that the store goes away or comes back (None).
    """

    def __init__(self, key: str = "") -> None:
        self.key, self.to_look = key, False
        self._waiting: list[T] = []
        self._told = asyncio.Event()

    def tell(self, what: T) -> None:
        """Add something; of too much the oldest goes."""
        if self.to_look and what is not None:
            return
        self._waiting = [*self._waiting[1 - _WAITING :], what]
        self._told.set()

    async def next(self, seconds: float) -> list[T]:
        """What came since, or comes within so many seconds."""
        with suppress(TimeoutError):
            async with asyncio.timeout(seconds):
                await self._told.wait()
        self._told.clear()
        taken, self._waiting = self._waiting, []
        return taken


class Live:
    """Reads events while anybody listens, and hands each of them to every page; None says that the store is away or back."""

    def __init__(self, memory: AsyncObservationalMemory) -> None:
        self._memory = memory
        self._listeners: set[Listener[Event | None]] = set()
        self._reading: asyncio.Task[None] | None = None
        self._placed = asyncio.Event()
        self.turns = PageTurns()
        self.away = False

    def check_room(self, key: str) -> None:
        """Return when one more page of a key may listen; raises HTTPException, 503 or 429, where all or its own are too many."""
        if len(self._listeners) >= MOST_PAGES:
            raise HTTPException(503, f"{MOST_PAGES} pages listen here already: reload this one to see what is new")
        if sum(each.key == key for each in self._listeners) >= MOST_OF_A_KEY:
            raise HTTPException(429, f"{MOST_OF_A_KEY} pages of this key are open here already: close some of them")

    @contextmanager
    def listening(self, key: str = "") -> Iterator[Listener[Event | None]]:
        """A listener while the block runs; raises what `check_room` does."""
        self.check_room(key)
        listener = Listener[Event | None](key)
        self._listeners.add(listener)
        if self._reading is None or self._reading.done():
            self._placed.clear()
            self._reading = asyncio.create_task(self._read())
        try:
            yield listener
        finally:
            self._listeners.discard(listener)

    async def placed(self) -> None:
        """Return once it is known from where on events are heard, or that the store is away."""
        await self._placed.wait()

    async def close(self) -> None:
        """Read no more."""
        if self._reading:
            self._reading.cancel()
            await asyncio.gather(self._reading, return_exceptions=True)

    async def _read(self) -> None:
        place = ""
        while self._listeners:
            try:
                told = await self._memory.events(place, count=_AT_ONCE, wait=LOOK_S if place else 0)
            except OMError:
                self._turn(away=True)
                self._placed.set()
                await asyncio.sleep(LOOK_S)
                continue
            self._turn(away=False)
            for event in told.events if place else ():
                self._tell(event)
            place = told.after
            self._placed.set()

    def _turn(self, *, away: bool) -> None:
        if away != self.away:
            self.away = away
            self._tell(None)

    def _tell(self, event: Event | None) -> None:
        for listener in self._listeners:
            listener.tell(event)


async def stream(
    live: Live, streams: Streams, may: May, written: Written, missed: Missed | None = None, key: str = ""
) -> AsyncIterator[bytes]:
    """The text of a page's stream: what `written` makes of events, until it ends; and CHANGE when the turn of the page has come.

    It ends when the process is told to stop, and at the first heartbeat at which `may` raises HTTPException. `missed` says
    whether something changed before the page listened; without it no CHANGE is told.
    """
    with live.listening(key) as listener, live.turns.page() as turn:
        yield b": listening\n\n"
        await live.placed()
        loop = asyncio.get_running_loop()
        beat = loop.time()
        listener.to_look = bool(missed and await missed())
        while not streams.ending:
            if found := await listener.next(turn.wait()):
                text, changed = written([event for event in found if event])
                listener.to_look |= changed
                if text:
                    yield text
            if missed and turn.come(to_look=listener.to_look):
                listener.to_look = False
                yield CHANGE
            if loop.time() - beat >= BEAT_S:
                beat = loop.time()
                if not await _still(may):
                    return
                yield b": still here\n\n"


async def _still(may: May) -> bool:
    """Whether a page may go on listening; while the store is away nobody knows, and there is nothing to hear."""
    try:
        await may()
    except HTTPException:
        return False
    except StoreError:
        return True
    return True

"""What every handler works with: the memory, the keys, the settings; made once for an app."""

from typing import NamedTuple, TypeVar

from fastapi import Request

from om_api.async_key_ring import AsyncKeyRing
from om_api.async_memory import AsyncObservationalMemory
from om_api.http.shares import Shares, aside
from om_api.http.stopping import Stopping
from om_api.http.streams import Streams
from om_api.metrics.scraper import Scraper
from om_api.settings import Settings
from om_api.store.steps import Steps

T = TypeVar("T")


class SharedMemory(AsyncObservationalMemory):
    """A memory whose large replies are taken up off the event loop, one of each key at a time."""

    async def _run(self, steps: Steps[T]) -> T:
        return await self._connection.run(steps, aside)


class House(NamedTuple):
    """One app's memory, keys and figures; `locked` is False where whoever reaches it may do everything."""

    settings: Settings
    memory: AsyncObservationalMemory
    keys: AsyncKeyRing
    scraper: Scraper
    shares: Shares
    locked: bool = True

    async def close(self) -> None:
        """Give the connections back."""
        await self.memory.close()
        await self.keys.close()
        await self.scraper.close()
        self.shares.close()


def house(request: Request) -> House:
    """The house of the app that a request came to."""
    found: House = request.app.state.house
    return found


def streams(request: Request) -> Streams:
    """The open streams of events of the app that a request came to."""
    found: Streams = request.app.state.streams
    return found


def stopping(request: Request) -> Stopping:
    """Whether the app that a request came to was told to stop."""
    found: Stopping = request.app.state.stopping
    return found


def memory(request: Request) -> AsyncObservationalMemory:
    """Its memory."""
    return house(request).memory

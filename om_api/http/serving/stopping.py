"""Being told to stop: whatever only waits in this process ends then, so that requests in flight can."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager


class Shutdown:
    """Whether one app of one event loop was told to stop; `told` is an event to be awaited."""

    def __init__(self) -> None:
        self.told = asyncio.Event()
        self._waits: set[asyncio.Timeout] = set()

    def tell(self) -> None:
        """End every wait, now and from now on."""
        self.told.set()
        for wait in self._waits:
            wait.reschedule(asyncio.get_running_loop().time())

    @asynccontextmanager
    async def ends(self) -> AsyncIterator[None]:
        """A wait that is given up when the app is told to stop, which raises TimeoutError."""
        async with asyncio.timeout(0 if self.told.is_set() else None) as wait:
            self._waits.add(wait)
            try:
                yield
            finally:
                self._waits.discard(wait)

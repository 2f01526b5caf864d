"""Calls that end when their time is over, whatever they wait for just then.

The timeouts of an HTTP client bound every wait by itself: a server that sends a byte now and then is waited for without
end. A cancelled coroutine stops wherever it is, so calls run on an event loop in one thread of this process.
"""

import asyncio
import threading
from collections.abc import Callable, Coroutine
from concurrent.futures import Future
from functools import cache
from typing import Any, Protocol, TypeVar

T = TypeVar("T")
_once = threading.Lock()


class WaitFor(Protocol):
    """How whoever asks waits for a call: it returns what the future holds, and may cancel it and raise an OMError instead."""

    def __call__(self, call: Future[T], /) -> T:
        """Wait."""


def to_the_end(call: Future[T]) -> T:
    """Wait until a call has ended."""
    return call.result()


def within(seconds: float | None, call: Callable[[], Coroutine[Any, Any, T]], wait: WaitFor = to_the_end) -> T:
    """Return what a coroutine returns; TimeoutError if that takes longer than `seconds`, and it is cancelled then."""
    return wait(begun(seconds, call))


def begun(seconds: float | None, call: Callable[[], Coroutine[Any, Any, T]]) -> Future[T]:
    """The same, not waited for: what it returns is in the future once it has ended."""
    with _once:
        loop = _loop()
    return asyncio.run_coroutine_threadsafe(_bounded(seconds, call), loop)


async def _bounded(seconds: float | None, call: Callable[[], Coroutine[Any, Any, T]]) -> T:
    async with asyncio.timeout(seconds):
        return await call()


@cache
def _loop() -> asyncio.AbstractEventLoop:
    loop = asyncio.new_event_loop()
    threading.Thread(target=loop.run_forever, name="om-models", daemon=True).start()
    return loop

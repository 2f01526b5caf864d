"""Calls that end when their time is over, whatever they wait for just then.

The timeouts of an HTTP client bound every wait by itself: a server that sends a byte now and then is waited for without
end. A cancelled coroutine stops wherever it is, so calls run on an event loop in one thread of this process.
"""

from __future__ import annotations

import asyncio
import threading
from functools import cache
from typing import TYPE_CHECKING, Any, TypeVar

if TYPE_CHECKING:
    from collections.abc import Callable, Coroutine

T = TypeVar("T")
_once = threading.Lock()


def within(seconds: float, call: Callable[[], Coroutine[Any, Any, T]]) -> T:
    """Return what a coroutine returns; TimeoutError if that takes longer than `seconds`, and it is cancelled then."""
    with _once:
        loop = _loop()
    return asyncio.run_coroutine_threadsafe(_bounded(seconds, call), loop).result()


async def _bounded(seconds: float, call: Callable[[], Coroutine[Any, Any, T]]) -> T:
    async with asyncio.timeout(seconds):
        return await call()


@cache
def _loop() -> asyncio.AbstractEventLoop:
    loop = asyncio.new_event_loop()
    threading.Thread(target=loop.run_forever, name="om-models", daemon=True).start()
    return loop

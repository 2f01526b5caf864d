"""The asyncio client behind the blocking one's methods, which is how tests of promises use it."""

import asyncio
import inspect
import threading
from collections.abc import Iterator
from functools import cache
from typing import Any, ClassVar, Self

import redis
import redis.asyncio

from om_api import AsyncObservationalMemory
from om_api.store.driver.async_connection import open_async_client


@cache
def loop() -> asyncio.AbstractEventLoop:
    """One event loop in a thread of its own, for as long as the tests run."""
    started = asyncio.new_event_loop()
    threading.Thread(target=started.run_forever, name="asyncio face", daemon=True).start()
    return started


def await_(coroutine: Any) -> Any:
    """What a coroutine returns or raises, run on that loop."""
    return asyncio.run_coroutine_threadsafe(coroutine, loop()).result(60)


class Driven:
    """An AsyncObservationalMemory whose methods wait; `client` is a blocking client of the server it is to use."""

    opened: ClassVar[list["Driven"]] = []

    def __init__(self, settings: Any, *, client: Any = None, **options: Any) -> None:
        self.face = await_(_open(settings, client, options))
        self.opened.append(self)

    def __getattr__(self, name: str) -> Any:
        found = getattr(self.face, name)
        if inspect.isasyncgenfunction(inspect.unwrap(found)):
            return lambda *args, **options: _iterated(found(*args, **options))
        if not inspect.iscoroutinefunction(found):
            return found
        return lambda *args, **options: await_(found(*args, **options))

    def import_memory(self, pieces: Any, *args: Any) -> Any:
        return await_(self.face.import_memory(_given(pieces), *args))

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    @classmethod
    def close_all(cls) -> None:
        """Give every connection back; a test that closed its own does no harm."""
        while cls.opened:
            await_(cls.opened.pop().face._connection.close())


def _iterated(asked: Any) -> Iterator[Any]:
    """What an asynchronous generator yields, as it comes."""
    try:
        while True:
            try:
                yield await_(_next(asked))
            except StopAsyncIteration:
                return
    finally:
        await_(asked.aclose())


async def _next(asked: Any) -> Any:
    return await anext(asked)


async def _given(pieces: Any) -> Any:
    for piece in pieces:
        yield piece


async def _open(settings: Any, client: Any, options: dict[str, Any]) -> AsyncObservationalMemory:
    return AsyncObservationalMemory(settings, client=client and _same(client, options.get("timeout", 5.0)), **options)


def _same(client: Any, timeout: float) -> Any:
    """An asyncio client of the server that a blocking one talks to."""
    if isinstance(client, redis.RedisCluster):
        node, given = client.get_default_node(), client.get_connection_kwargs()
        return redis.asyncio.RedisCluster(host=node.host, port=node.port, socket_timeout=given.get("socket_timeout"))
    at = client.connection_pool.connection_kwargs
    return open_async_client(f"redis://{at['host']}:{at['port']}/{at['db']}", timeout)


def waiting(found: Any) -> Any:
    """What a client gives, whichever of the two it is."""
    return await_(found) if inspect.isawaitable(found) else found

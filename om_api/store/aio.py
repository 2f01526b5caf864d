"""Driving steps with redis.asyncio; the blocking twin is in connection.py, what both ask and say in exchange.py."""

from __future__ import annotations

import asyncio
from functools import partial
from typing import TYPE_CHECKING, Any, TypeAlias, TypeVar

import redis.asyncio
from redis.asyncio.retry import Retry
from redis.asyncio.sentinel import Sentinel, SentinelConnectionPool
from redis.exceptions import RedisError, ResponseError

from om_api.store.exchange import asks, on_the_wire, patient, pipelined, retries_itself, settled
from om_api.store.lines import AsyncClient, AsyncPool
from om_api.store.opening import Library, open_with
from om_api.store.steps import Wait

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Generator

    from om_api.store.steps import Batch, Step, Steps

T = TypeVar("T")
S = TypeVar("S")
Aside: TypeAlias = "Callable[[Any, Callable[[], Any]], Awaitable[Any] | None]"  # where to take up a reply; None: here


def open_async_client(url: str, timeout: float = 5.0) -> redis.asyncio.Redis:
    """An asyncio client for a URL; see opening.open_with. Raises SettingsError."""
    client: redis.asyncio.Redis = open_with(Library(AsyncClient, AsyncPool, Sentinel, Retry), url, timeout)
    return client


class AsyncConnection:
    """Runs steps against a redis.asyncio client (a plain server, Sentinel's primary, or a RedisCluster) of one event loop."""

    def __init__(self, client: Any) -> None:
        self.client = client
        self.cluster = isinstance(client, redis.asyncio.RedisCluster)
        self._retries_itself = self.cluster or retries_itself(client)
        self._transact = pipelined if self._retries_itself else _transact

    async def run(self, steps: Steps[T], aside: Aside | None = None) -> T:
        """Drive steps to their end and return what they return; raises StoreError. `aside` may have some done elsewhere."""
        return await _drive(patient(steps, retries_itself=self._retries_itself), self._perform, aside)

    async def _perform(self, step: Step) -> Any:
        if isinstance(step, Wait):
            return await asyncio.sleep(step.seconds)
        return await _drive(asks(step, cluster=self.cluster, transact=self._transact), lambda ask: ask(self.client))

    async def close(self) -> None:
        """Give the connections back, those to Sentinels too: asyncio complains of what is left open."""
        pool = None if self.cluster else self.client.connection_pool
        for sentinel in pool.sentinel_manager.sentinels if isinstance(pool, SentinelConnectionPool) else ():
            await sentinel.aclose()
        await self.client.aclose()


async def _transact(client: Any, batch: Batch) -> list[Any]:
    """Send a batch at once and read all its replies: redis-py's pipeline without the books that it keeps."""
    sent, expected = on_the_wire(batch)
    connection = await client.connection_pool.get_connection()
    try:
        await connection.send_packed_command([sent])
        replies = [await _reply(connection) for _ in range(expected)]
    except BaseException:  # replies may be left that nobody asked for
        await connection.disconnect()
        raise
    finally:
        await client.connection_pool.release(connection)
    return settled(batch, replies, client.response_callbacks)


async def _reply(connection: Any) -> Any:
    try:
        return await connection.read_response()
    except ResponseError as error:
        return error


async def _drive(
    questions: Generator[S, Any, T], answer: Callable[[S], Awaitable[Any]], aside: Aside | None = None
) -> T:
    """Answer everything a generator asks, and return what it returns; Redis' errors are answers too."""
    go_on, reply = questions.send, None
    while True:
        step = partial(_next, go_on, reply)
        elsewhere = aside(reply, step) if aside else None
        asked, found = step() if elsewhere is None else await elsewhere
        if not asked:
            return found  # type: ignore[no-any-return]
        try:
            go_on, reply = questions.send, await answer(found)
        except RedisError as error:
            go_on, reply = questions.throw, error


def _next(go_on: Callable[[Any], Any], reply: Any) -> tuple[bool, Any]:
    """What a generator asks next, or False and what it returns: StopIteration crosses no thread."""
    try:
        return True, go_on(reply)
    except StopIteration as end:
        return False, end.value

"""Driving steps with redis.asyncio; the blocking twin is in connection.py, what both ask and say in step_driver.py."""

import asyncio
from collections.abc import Awaitable, Callable, Sequence
from functools import partial
from typing import Any, TypeAlias, TypeVar

import redis.asyncio
from redis.asyncio.retry import Retry
from redis.asyncio.sentinel import Sentinel, SentinelConnectionPool
from redis.exceptions import RedisError, ResponseError

from om_api.archive.protocol import Archive
from om_api.store.driver.cluster import Answer, ClusterClient, Line, NodeRequest
from om_api.store.driver.fast_client import AsyncClient, AsyncPool
from om_api.store.driver.opening import Library, cluster_of, open_with
from om_api.store.driver.step_driver import (
    Endpoint,
    check_bytes,
    conversation,
    on_the_wire,
    pipelined,
    retries_itself,
    settled,
)
from om_api.store.driver.steps import Askable, Batch, Call

T = TypeVar("T")
Aside: TypeAlias = Callable[[Any, Callable[[], Any]], Awaitable[Any] | None]  # where to take up a reply; None: here


_LIBRARY = Library(AsyncClient, AsyncPool, Sentinel, Retry)


def open_async_client(url: str, timeout: float = 5.0) -> redis.asyncio.Redis | ClusterClient:
    """An asyncio client for a URL; see opening.open_with. Raises SettingsError."""
    client: redis.asyncio.Redis | ClusterClient = open_with(_LIBRARY, url, timeout)
    return client


class AsyncConnection:
    """Runs steps against a redis.asyncio client (a plain server, Sentinel's primary, or a RedisCluster) of one event loop."""

    def __init__(self, client: Any, archive: Archive | None = None) -> None:
        check_bytes(client)
        own = cluster_of(_LIBRARY, client) if isinstance(client, redis.asyncio.RedisCluster) else client
        self.client, self.cluster = client, isinstance(own, ClusterClient)
        line = Line(own, _exchange, asyncio) if self.cluster else None
        patient = line is None and retries_itself(client)
        self._endpoint = Endpoint(
            client, patient, pipelined if patient else _transact, _exchange, asyncio, line, archive
        )

    async def run(self, steps: Askable[T], aside: Aside | None = None) -> T:
        """Drive steps to their end and return what they return; raises StoreError. `aside` may have some done elsewhere.

        Time 0: a command is sent. Time 1: its reply is there, and the task is cancelled: `asyncio.wait_for` of Python 3.11, which
        redis-py sends with, gives the reply and forgets that. Whoever was cancelled ends here all the same.
        """
        task = asyncio.current_task()
        before = task.cancelling() if task else 0
        calls = conversation(iter(steps), self._endpoint)
        go_on: Callable[[Any], Call] = calls.send
        reply: Any = None
        while True:
            following = partial(_following, go_on, reply)
            elsewhere = aside(reply, following) if aside else None
            call, words = following() if elsewhere is None else await elsewhere
            if call is None:
                return words  # type: ignore[no-any-return]
            try:
                go_on, reply = calls.send, await call(*words)
            except RedisError as error:
                go_on, reply = calls.throw, error
            if task and task.cancelling() > before:
                raise asyncio.CancelledError

    async def close(self) -> None:
        """Give the connections back, those to Sentinels too: asyncio complains of what is left open."""
        if self._endpoint.past:
            self._endpoint.past.close()
        for client in self._endpoint.line.cluster.clients if self._endpoint.line else ():
            await client.aclose()
        if isinstance(self.client, ClusterClient):
            return
        pool = None if self.cluster else self.client.connection_pool
        for sentinel in pool.sentinel_manager.sentinels if isinstance(pool, SentinelConnectionPool) else ():
            await sentinel.aclose()
        await self.client.aclose()


async def _transact(client: Any, batch: Batch[Any]) -> list[Any]:
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


async def _exchange(requests: Sequence[NodeRequest]) -> list[Answer]:
    """What several nodes answer, who are asked at the same time."""
    if len(requests) == 1:
        return [await _answer(requests[0])]
    return await asyncio.gather(*map(_answer, requests))


async def _answer(request: NodeRequest) -> Answer:
    pool, connection, whole = request.client.connection_pool, None, False
    try:
        connection = await pool.get_connection()
        await connection.send_packed_command([request.sent])
        replies = [await _reply(connection) for _ in range(request.expected)]
        whole = True
    except RedisError as error:
        return error
    else:
        return replies
    finally:  # replies may be left that nobody asked for
        if connection is not None:
            await _put_back(pool, connection, whole=whole)


async def _put_back(pool: Any, connection: Any, *, whole: bool) -> None:
    if not whole:
        await connection.disconnect()
    await pool.release(connection)


async def _reply(connection: Any) -> Any:
    try:
        return await connection.read_response()
    except ResponseError as error:
        return error


def _following(go_on: Callable[[Any], Call], reply: Any) -> tuple[Callable[..., Any] | None, Any]:
    """The call that follows, or None and what the steps returned: StopIteration crosses no thread."""
    try:
        return go_on(reply)
    except StopIteration as end:
        return None, end.value

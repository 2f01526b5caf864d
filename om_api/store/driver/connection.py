"""Driving steps with a blocking Redis client; the asyncio one is in async_connection.py, what both say in step_driver.py."""

import time
from collections.abc import Callable
from contextlib import closing
from typing import Any, TypeVar

import redis
from redis.exceptions import RedisError, ResponseError
from redis.retry import Retry
from redis.sentinel import Sentinel

from om_api.store.driver.fast_client import Client, Pool
from om_api.store.driver.opening import Library, open_with
from om_api.store.driver.step_driver import (
    Call,
    Endpoint,
    check_bytes,
    conversation,
    on_the_wire,
    pipelined,
    retries_itself,
    settled,
)
from om_api.store.driver.steps import Askable, Batch

T = TypeVar("T")


def open_client(url: str, timeout: float = 5.0) -> redis.Redis:
    """A blocking client for a URL; see opening.open_with. Raises SettingsError."""
    client: redis.Redis = open_with(Library(Client, Pool, Sentinel, Retry), url, timeout)
    return client


class Connection:
    """Runs steps against a blocking redis-py client (a plain server, Sentinel's primary, or a RedisCluster)."""

    def __init__(self, client: Any) -> None:
        check_bytes(client)
        self.client = client
        self.cluster = isinstance(client, redis.RedisCluster)
        patient = self.cluster or retries_itself(client)
        self._endpoint = Endpoint(client, self.cluster, patient, pipelined if patient else _transact, time)

    def run(self, steps: Askable[T]) -> T:
        """Drive steps to their end and return what they return; raises StoreError."""
        calls = conversation(iter(steps), self._endpoint)
        go_on: Callable[[Any], Call] = calls.send
        reply: Any = None
        while True:
            try:
                call, words = go_on(reply)
            except StopIteration as end:
                return end.value  # type: ignore[no-any-return]
            try:
                go_on, reply = calls.send, call(*words)
            except RedisError as error:
                go_on, reply = calls.throw, error

    def close(self) -> None:
        """Give the connections back."""
        self.client.close()


def connected(url: str, timeout: float = 5.0) -> closing[Connection]:
    """A connection for one look at a server, given back with it. Raises SettingsError."""
    return closing(Connection(open_client(url, timeout)))


def _transact(client: Any, batch: Batch[Any]) -> list[Any]:
    """Send a batch at once and read all its replies: redis-py's pipeline without the books that it keeps."""
    sent, expected = on_the_wire(batch)
    connection = client.connection_pool.get_connection()
    try:
        connection.send_packed_command([sent])
        replies = [_reply(connection) for _ in range(expected)]
    except BaseException:  # replies may be left that nobody asked for
        connection.disconnect()
        raise
    finally:
        client.connection_pool.release(connection)
    return settled(batch, replies, client.response_callbacks)


def _reply(connection: Any) -> Any:
    try:
        return connection.read_response()
    except ResponseError as error:
        return error

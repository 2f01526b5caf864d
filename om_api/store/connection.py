"""Driving steps with a blocking Redis client; the asyncio one is in aio.py, what both ask and say in exchange.py."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING, Any, TypeVar

import redis
from redis.exceptions import RedisError, ResponseError
from redis.retry import Retry
from redis.sentinel import Sentinel

from om_api.store.exchange import asks, on_the_wire, patient, pipelined, retries_itself, settled
from om_api.store.lines import Client, Pool
from om_api.store.opening import Library, open_with
from om_api.store.steps import Wait

if TYPE_CHECKING:
    from collections.abc import Callable, Generator

    from om_api.store.steps import Batch, Step, Steps

T = TypeVar("T")
S = TypeVar("S")


def open_client(url: str, timeout: float = 5.0) -> redis.Redis:
    """A blocking client for a URL; see opening.open_with. Raises SettingsError."""
    client: redis.Redis = open_with(Library(Client, Pool, Sentinel, Retry), url, timeout)
    return client


class Connection:
    """Runs steps against a blocking redis-py client (a plain server, Sentinel's primary, or a RedisCluster)."""

    def __init__(self, client: Any) -> None:
        self.client = client
        self.cluster = isinstance(client, redis.RedisCluster)
        self._retries_itself = self.cluster or retries_itself(client)
        self._transact = pipelined if self._retries_itself else _transact

    def run(self, steps: Steps[T]) -> T:
        """Drive steps to their end and return what they return; raises StoreError."""
        return _drive(patient(steps, retries_itself=self._retries_itself), self._perform)

    def _perform(self, step: Step) -> Any:
        if isinstance(step, Wait):
            return time.sleep(step.seconds)
        return _drive(asks(step, cluster=self.cluster, transact=self._transact), lambda ask: ask(self.client))

    def close(self) -> None:
        """Give the connections back."""
        self.client.close()


def _transact(client: Any, batch: Batch) -> list[Any]:
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


def _drive(questions: Generator[S, Any, T], answer: Callable[[S], Any]) -> T:
    """Answer everything a generator asks, and return what it returns; Redis' errors are answers too."""
    try:
        question = next(questions)
        while True:
            try:
                reply = answer(question)
            except RedisError as error:
                question = questions.throw(error)
            else:
                question = questions.send(reply)
    except StopIteration as end:
        return end.value  # type: ignore[no-any-return]

"""Driving steps with a blocking Redis client; the asyncio one is in async_connection.py, what both say in step_driver.py."""

import time
from collections.abc import Callable, Sequence
from contextlib import closing
from typing import Any, TypeVar

import redis
from redis.exceptions import RedisError, ResponseError
from redis.retry import Retry
from redis.sentinel import Sentinel

from om_api.archive.protocol import Archive
from om_api.store.driver.cluster import Answer, ClusterClient, Line, NodeRequest
from om_api.store.driver.fast_client import Client, Pool, give_up
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
from om_api.store.driver.steps import Askable, Batch, Call, Calls, at

T = TypeVar("T")
_LIBRARY = Library(Client, Pool, Sentinel, Retry)


def open_client(url: str, timeout: float = 5.0) -> redis.Redis | ClusterClient:
    """A blocking client for a URL; see opening.open_with. Raises SettingsError."""
    client: redis.Redis | ClusterClient = open_with(_LIBRARY, url, timeout)
    return client


class Connection:
    """Runs steps against a blocking redis-py client (a plain server, Sentinel's primary, or a RedisCluster).

    `client` is one that libraries may use, of a Cluster too.
    """

    def __init__(self, client: Any, archive: Archive | None = None) -> None:
        check_bytes(client)
        own = cluster_of(_LIBRARY, client) if isinstance(client, redis.RedisCluster) else client
        self.cluster = isinstance(own, ClusterClient)
        self._given, line = client, Line(own, _exchange, time) if self.cluster else None
        patient = line is None and retries_itself(client)
        self._endpoint = Endpoint(client, patient, pipelined if patient else _transact, _exchange, time, line, archive)
        self.client = client if line is None else _AsOne(line)

    def run(self, steps: Askable[T]) -> T:
        """Drive steps to their end and return what they return; raises StoreError."""
        return _driven(conversation(iter(steps), self._endpoint))

    def close(self) -> None:
        """Give the connections back, the archive's too."""
        if self._endpoint.past:
            self._endpoint.past.close()
        for client in self._endpoint.line.cluster.clients if self._endpoint.line else ():
            client.close()
        if not isinstance(self._given, ClusterClient):
            self._given.close()


class _AsOne(redis.Redis):
    """A whole Cluster as redis-py's locks and others' libraries take it: one client, whose commands find their nodes."""

    def __init__(self, line: Line) -> None:
        super().__init__()  # a pool of which no connection is ever asked
        self._line = line

    def execute_command(self, *args: Any, **_: Any) -> Any:
        """A command's reply; raises RedisError."""
        if args[0] == "SCRIPT LOAD":
            for node in _driven(self._line.nodes()):
                _driven(self._line.ask(at(node, Batch([args]))))
        return _driven(self._line.ask(Batch([args])))[0]


def _driven(calls: Calls[T]) -> T:
    """Make calls to their end, and return what they come to."""
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
    except BaseException as error:
        give_up(connection, error)
        raise
    finally:
        client.connection_pool.release(connection)
    return settled(batch, replies, client.response_callbacks)


def _reply(connection: Any) -> Any:
    try:
        return connection.read_response()
    except ResponseError as error:
        return error


class _Sent:
    """A request on its way to a node. A connection on which replies may be left that nobody asked for is closed."""

    def __init__(self, request: NodeRequest) -> None:
        self._pool, self._expected, self._connection = request.client.connection_pool, request.expected, None
        self._error: RedisError | None = None
        try:
            self._connection = self._pool.get_connection()
            self._connection.send_packed_command([request.sent])
        except RedisError as error:
            self._error = error
        except BaseException:
            self.end(whole=False)
            raise

    def answer(self) -> Answer:
        """The replies, or why there are none."""
        try:
            return self._error or [_reply(self._connection) for _ in range(self._expected)]
        except RedisError as error:
            self._error = error
            return error

    def end(self, *, whole: bool) -> None:
        """Give the connection back."""
        if self._connection is not None:
            if self._error or not whole:
                self._connection.disconnect()
            self._pool.release(self._connection)


def _exchange(requests: Sequence[NodeRequest]) -> list[Answer]:
    """What several nodes answer; all of them are asked before one is listened to."""
    sent: list[_Sent] = []
    answers: list[Answer] = []
    try:
        sent.extend(map(_Sent, requests))
        answers.extend(each.answer() for each in sent)
    finally:
        for n, each in enumerate(sent):
            each.end(whole=n < len(answers))
    return answers

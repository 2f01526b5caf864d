"""redis-py's clients with a shorter way to the server.

Around each command redis-py counts connections and durations, tells of events and prepares to try again: twice the time of
the command itself, for what we do not use. These clients skip that. They still ask each connection, before it is used
again, whether its end was closed or holds bytes that nobody asked for.
"""

import os
from collections import deque
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import redis
import redis.asyncio
from hiredis import pack_command
from redis.exceptions import ConnectionError as RedisConnectionError
from redis.exceptions import RedisError

# what redis-py stumbles over where another thread closes a connection under it
_STUMBLED = (AttributeError, TypeError, ValueError)
_CLOSED = "the client was closed meanwhile"


class Pool(redis.ConnectionPool):
    """Hands the connection that came back last to whoever asks next; all else is redis-py's, for which it is still in use."""

    def reset(self) -> None:
        """Forget all connections: redis-py asks for it at the beginning, and in a process that was forked."""
        self._kept: deque[Any] = deque()
        super().reset()

    def get_connection(self, *_: object, **__: object) -> Any:
        """A connection that is ready for a command; raises RedisError."""
        try:
            connection = self._kept.pop()
        except IndexError:
            return self._another()
        if connection.pid == os.getpid() and _is_quiet(connection):
            return connection
        super().release(connection)
        return self._another()

    def _another(self) -> Any:
        try:
            return super().get_connection()
        except _STUMBLED as error:
            raise RedisConnectionError(_CLOSED) from error

    def release(self, connection: Any) -> None:
        """Give a connection back."""
        self._kept.append(connection)


class Client(redis.Redis):
    """A client that tries each command once; for pools whose policy of retries is none."""

    def execute_command(self, *args: Any, **options: Any) -> Any:
        """A command's reply; raises RedisError."""
        with self._line() as connection:
            connection.send_command(*args)
            return self.parse_response(connection, args[0], **options)

    def evalsha(self, *words: Any) -> Any:
        """A script's reply; each word is a str, bytes or a number. Raises RedisError."""
        sent = [pack_command(("EVALSHA", *words))]
        connection = self.connection_pool.get_connection()
        try:
            connection.send_packed_command(sent)
            return connection.read_response()
        except RedisError:
            raise
        except BaseException as error:  # as in `_line`, which takes its time
            give_up(connection, error)
            raise
        finally:
            self.connection_pool.release(connection)

    @contextmanager
    def _line(self) -> Iterator[Any]:
        """A connection for one command. An interrupt between sending and reading leaves a reply that nobody asked for."""
        connection = self.connection_pool.get_connection()
        try:
            yield connection
        except RedisError:
            raise
        except BaseException as error:
            give_up(connection, error)
            raise
        finally:
            self.connection_pool.release(connection)


class AsyncPool(redis.asyncio.ConnectionPool):
    """The same for the tasks of one event loop."""

    def __init__(self, *args: Any, **options: Any) -> None:
        self._kept: deque[Any] = deque()
        super().__init__(*args, **options)

    async def get_connection(self, *_: object, **__: object) -> Any:
        """A connection that is ready for a command; raises RedisError."""
        try:
            connection = self._kept.pop()
        except IndexError:
            return await super().get_connection()
        if await _is_quiet_there(connection):
            return connection
        await super().release(connection)
        return await super().get_connection()

    async def release(self, connection: Any) -> None:
        """Give a connection back."""
        self._kept.append(connection)


class AsyncClient(redis.asyncio.Redis):
    """The same for asyncio."""

    async def execute_command(self, *args: Any, **options: Any) -> Any:
        """A command's reply; raises RedisError."""
        connection = await self.connection_pool.get_connection()
        try:
            await connection.send_command(*args)
            return await self.parse_response(connection, args[0], **options)
        finally:
            await self.connection_pool.release(connection)

    async def evalsha(self, *words: Any) -> Any:
        """A script's reply; each word is a str, bytes or a number. Raises RedisError."""
        connection = await self.connection_pool.get_connection()
        try:
            await connection.send_packed_command([pack_command(("EVALSHA", *words))])
            return await connection.read_response()
        finally:
            await self.connection_pool.release(connection)


def give_up(connection: Any, error: BaseException) -> None:
    """Close a connection on which replies may be left that nobody asked for.

    Raises RedisError where it was closed before: by another thread, which closes the client while this one waits for a reply.
    """
    closed = isinstance(error, _STUMBLED) and not connection.is_connected
    connection.disconnect()
    if closed:
        raise RedisConnectionError(_CLOSED) from error


def _is_quiet(connection: Any) -> bool:
    try:
        return connection.is_connected and not connection.can_read()
    except (RedisError, *_STUMBLED):
        return False


async def _is_quiet_there(connection: Any) -> bool:
    try:
        return connection.is_connected and not await connection.can_read()
    except RedisError:
        return False

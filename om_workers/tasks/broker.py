"""The broker: its address, how many tasks wait in it, and kombu's way to Redis with one client a channel, not one a command.

kombu makes a `redis.Redis` for whatever it publishes, takes and acknowledges, and each copies some 250 callbacks: a large part of
what the loop of a busy worker did.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

from kombu.exceptions import OperationalError
from kombu.transport import TRANSPORT_ALIASES, redis

if TYPE_CHECKING:
    from celery import Celery


_RABBITMQ = ("amqp", "amqps", "pyamqp")
_OF_REDIS = {"visibility_timeout": 3600, "socket_timeout": 30, "socket_keepalive": True}
_OF_RABBITMQ = {"confirm_publish": True, "read_timeout": 30, "write_timeout": 30}


def is_rabbitmq(url: str) -> bool:
    """Whether a broker's URL, or the first of several, is one of RabbitMQ."""
    return url.partition("://")[0] in _RABBITMQ


def queue_arguments(url: str) -> dict[str, str] | None:
    """What a queue is declared with: on RabbitMQ it is kept by a quorum of its nodes, which outlives any one of them."""
    return {"x-queue-type": "quorum"} if is_rabbitmq(url) else None


def address(url: str) -> tuple[str, dict[str, Any]]:
    """A broker's URL as kombu takes it, and the transport options that go with it: Sentinel is written another way."""
    if is_rabbitmq(url):
        return url, dict(_OF_RABBITMQ)
    parts = urlsplit(url)
    if not parts.scheme.endswith("+sentinel"):
        return url, dict(_OF_REDIS)
    account, at, addresses = parts.netloc.rpartition("@")
    service, _, db = parts.path.strip("/").partition("/")
    hosts = ";".join(f"sentinel://{account}{at}{address}/{db or 0}" for address in addresses.split(","))
    return hosts, {**_OF_REDIS, "master_name": service}


def queue_length(app: Celery, queue: str) -> int:
    """How many tasks wait that no worker has taken; 0 while the broker cannot be asked: whoever sends one says what is wrong.

    Each time over a connection of its own: a channel that lived through an outage of the broker may stay broken until
    something is published on it.
    """
    with app.connection_for_write() as connection:
        try:
            return int(app.amqp.queues[queue].bind(connection.channel()).queue_declare().message_count)
        except (OperationalError, *connection.connection_errors, *connection.channel_errors):
            return 0


def register() -> None:
    """Have this process reach brokers on Redis by the classes below; their addresses stay as they are."""
    one, named = (f"{__name__}:{each.__name__}" for each in (Transport, SentinelTransport))
    TRANSPORT_ALIASES.update(redis=one, rediss=one, sentinel=named)


class _OneClient:
    _kept: Any = None

    def _create_client(self, asynchronous: bool = False) -> Any:  # noqa: FBT001, FBT002 -- kombu's own
        if asynchronous:  # kombu keeps those itself
            return super()._create_client(asynchronous)  # type: ignore[misc]
        pool = self.pool  # type: ignore[attr-defined]
        if self._kept is None or self._kept.connection_pool is not pool:  # a closed channel takes another
            self._kept = super()._create_client()  # type: ignore[misc]
        return self._kept


class Channel(_OneClient, redis.Channel):  # type: ignore[misc]  # kombu carries no types
    """kombu's, with one client."""


class SentinelChannel(_OneClient, redis.SentinelChannel):  # type: ignore[misc]
    """kombu's, with one client."""


class Transport(redis.Transport):  # type: ignore[misc]
    """kombu's, for one server."""

    Channel = Channel


class SentinelTransport(redis.SentinelTransport):  # type: ignore[misc]
    """kombu's, for the server that Sentinel names."""

    Channel = SentinelChannel

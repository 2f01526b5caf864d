"""The broker: its address, how many tasks wait in it, and kombu's way to Redis with one client a channel, not one a command.

kombu makes a `redis.Redis` for whatever it publishes, takes and acknowledges, and each copies some 250 callbacks: a large part of
what the loop of a busy worker did.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any
from urllib.parse import quote, urlsplit, urlunsplit

from kombu.exceptions import OperationalError
from kombu.transport import TRANSPORT_ALIASES, redis

from om_api.settings.sections.urls import is_redis_url, split_options

if TYPE_CHECKING:
    from celery import Celery


_RABBITMQ = ("amqp", "amqps", "pyamqp")
_OF_REDIS = {"visibility_timeout": 3600, "socket_timeout": 30, "socket_keepalive": True}
_TRANSPORT = (
    *("socket_timeout", "socket_connect_timeout", "socket_keepalive"),
    *("health_check_interval", "max_connections", "client_name"),
)
_LOGIN = {"username", "password"}
_OF_RABBITMQ = {"confirm_publish": True, "read_timeout": 30, "write_timeout": 30}


def is_rabbitmq(url: str) -> bool:
    """Whether a broker's URL, or the first of several, is one of RabbitMQ."""
    return url.partition("://")[0] in _RABBITMQ


def queue_arguments(url: str) -> dict[str, str] | None:
    """What a queue is declared with: on RabbitMQ it is kept by a quorum of its nodes, which outlives any one of them."""
    return {"x-queue-type": "quorum"} if is_rabbitmq(url) else None


def address(url: str) -> tuple[str, dict[str, Any], dict[str, Any] | None]:
    """A broker's URL in kombu's form, with its transport and TLS options; raises SettingsError.

    kombu has its own form for Sentinel, without TLS. With TLS the certificate is checked unless the URL disables that.
    """
    if is_rabbitmq(url) or not is_redis_url(url):
        return url, dict(_OF_RABBITMQ) if is_rabbitmq(url) else {}, None
    bare, written = split_options(url)
    parts = urlsplit(bare)
    tls = {name: value for name, value in written.items() if name.startswith("ssl_")}
    tls = {"ssl_cert_reqs": "required", **tls} if parts.scheme.startswith("rediss") else {}
    options = {**_OF_REDIS, **{name: value for name, value in written.items() if name in _TRANSPORT}}
    account, at, addresses = parts.netloc.rpartition("@")
    if login := [written.get("username", ""), written.get("password", "")] if _LOGIN & written.keys() else []:
        account, at = ":".join(quote(word, safe="") for word in login), "@"
    if not parts.scheme.endswith("+sentinel"):
        path = f"/{written['db']}" if "db" in written else parts.path
        return urlunsplit(parts._replace(netloc=f"{account}{at}{addresses}", path=path)), options, tls or None
    service, _, db = parts.path.strip("/").partition("/")
    db = str(written.get("db", db or 0))
    hosts = ";".join(f"sentinel://{account}{at}{each}/{db}" for each in addresses.split(","))
    return hosts, {**options, "master_name": service}, None


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

"""The broker: its address as kombu takes it, and kombu's way to Redis with one client a channel instead of one a command.

kombu makes a `redis.Redis` for whatever it publishes, takes and acknowledges, and each copies some 250 callbacks: a large part of
what the loop of a busy worker did.
"""

from __future__ import annotations

from typing import Any
from urllib.parse import urlsplit

from kombu.transport import TRANSPORT_ALIASES, redis


def address(url: str) -> tuple[str, dict[str, Any]]:
    """A broker's URL as kombu takes it, and the transport options that go with it: Sentinel is written another way."""
    parts = urlsplit(url)
    if not parts.scheme.endswith("+sentinel"):
        return url, {}
    account, at, addresses = parts.netloc.rpartition("@")
    service, _, db = parts.path.strip("/").partition("/")
    hosts = ";".join(f"sentinel://{account}{at}{address}/{db or 0}" for address in addresses.split(","))
    return hosts, {"master_name": service}


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

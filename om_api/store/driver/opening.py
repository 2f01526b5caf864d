"""Making a client of redis-py, blocking or not, from the store's URL; it connects at first use."""

from collections.abc import Callable
from typing import Any, NamedTuple
from urllib.parse import SplitResult, unquote, urlsplit

from redis.backoff import NoBackoff
from redis.maint_notifications import MaintNotificationsConfig

from om_api.domain.errors import SettingsError

POOL = 512  # connections; a worker's threads and a server's handlers each hold one for the length of a call
_SENTINEL_PORT = 26_379


class Library(NamedTuple):
    """One of redis-py's two faces: a client, a pool, its Sentinel, its policy of retries."""

    client: Any
    pool: Any
    sentinel: Callable[..., Any]
    retry: Callable[..., Any]


def open_with(library: Library, url: str, timeout: float) -> Any:
    """A client for a URL; connects at first use. `timeout` in seconds bounds each call. Raises SettingsError.

    redis://, rediss:// (TLS), unix://, and redis+sentinel://host:port,host:port/primary/db for Sentinel's primary.
    """
    parts = urlsplit(url)
    if parts.scheme not in {"redis", "rediss", "unix", "redis+sentinel", "rediss+sentinel"}:
        raise SettingsError("the store's URL must begin with redis://, rediss://, unix:// or redis+sentinel://")
    options = _options(library, timeout)
    try:
        if parts.scheme.endswith("+sentinel"):
            return _primary(library, parts, options)
        client = library.client.from_pool(library.pool.from_url(url, **options))
        client.connection_pool.connection_class(**client.connection_pool.connection_kwargs)  # connects to nothing yet
    except SettingsError:
        raise
    except (TypeError, ValueError):  # its text may hold a part of the password
        raise SettingsError(
            "the store's URL cannot be used: see to its port, its database and its options, and write / ? # in a password"
            " as %2F %3F %23"
        ) from None
    return client


def _options(library: Library, timeout: float) -> dict[str, Any]:
    return {
        "socket_timeout": timeout,
        "socket_connect_timeout": timeout,
        "max_connections": POOL,
        "retry": library.retry(NoBackoff(), 0),  # we try again ourselves: we must know what the first try may have done
        # with them on, redis.asyncio writes to connections whose end it has read, and nobody knows what became of that
        "maint_notifications_config": MaintNotificationsConfig(enabled=False),
        "driver_info": None,  # an agent's user may not say it, and each refusal would stand in the server's ACL LOG
    }


def _primary(library: Library, parts: SplitResult, options: dict[str, Any]) -> Any:
    service, _, db = parts.path.strip("/").partition("/")
    if not service:
        raise SettingsError("a sentinel URL names its primary: redis+sentinel://host:26379,host2:26379/mymaster/0")
    account, _, addresses = parts.netloc.rpartition("@")
    user, _, password = account.partition(":")
    hosts = [address.rpartition(":") for address in addresses.split(",")]
    secure = {"ssl": True} if parts.scheme.startswith("rediss") else {}
    sentinel = library.sentinel(
        [(host or port, int(port) if host else _SENTINEL_PORT) for host, _, port in hosts],
        sentinel_kwargs={  # one that is away is tried once: the next one may know the primary
            name: options[name] for name in ("socket_timeout", "socket_connect_timeout", "retry")
        },
        socket_timeout=options["socket_timeout"],
    )
    known = {"username": unquote(user) or None, "password": unquote(password) or None}
    return sentinel.master_for(service, library.client, db=int(db or 0), **known, **options, **secure)

"""Making a client of redis-py, blocking or not, from the store's URL; it connects at first use."""

from collections.abc import Callable
from typing import Any, NamedTuple
from urllib.parse import SplitResult, unquote, urlsplit

from redis.backoff import NoBackoff
from redis.maint_notifications import MaintNotificationsConfig

from om_api.domain.errors import SettingsError
from om_api.settings.sections.urls import SCHEMES, split_options
from om_api.store.driver.cluster import ClusterClient

POOL = 512  # connections; a worker's threads and a server's handlers each hold one for the length of a call
_SENTINEL_PORT = 26_379
_PORT = 6_379
_PATIENCE_S = 5.0
_KEPT = {  # of a client of a cluster that somebody hands over, beside what begins with ssl_
    *("username", "password", "credential_provider", "client_name", "protocol"),
    *("socket_timeout", "socket_connect_timeout", "socket_keepalive", "socket_keepalive_options"),
}


class Library(NamedTuple):
    """One of redis-py's two faces: a client, a pool, its Sentinel, its policy of retries."""

    client: Any
    pool: Any
    sentinel: Callable[..., Any]
    retry: Callable[..., Any]


def open_with(library: Library, url: str, timeout: float) -> Any:
    """A client for a URL; connects at first use. `timeout` in seconds bounds each call. Raises SettingsError.

    redis://, rediss:// (TLS), unix://, redis+sentinel://host:port,host:port/primary/db for Sentinel's primary, and
    redis+cluster://host:port,host:port for some nodes of a Cluster.
    """
    if urlsplit(url).scheme not in SCHEMES:
        permitted = "redis://, rediss://, unix://, redis+sentinel:// or redis+cluster://"
        raise SettingsError(f"the store's URL must begin with {permitted}")
    url, written = split_options(url)
    parts, options = urlsplit(url), {**_options(library, timeout), **written}
    try:
        if parts.scheme.endswith("+sentinel"):
            return _primary(library, parts, options)
        if parts.scheme.endswith("+cluster"):
            return _cluster(library, parts, options)
        client = _plain(library, url, options)
    except SettingsError:
        raise
    except (TypeError, ValueError):  # its text may hold a part of the password
        raise SettingsError(
            "the store's URL cannot be used: see to its port, its database and its options, and write / ? # in a password"
            " as %2F %3F %23"
        ) from None
    return client


def cluster_of(library: Library, client: Any) -> ClusterClient:
    """The cluster that a RedisCluster of redis-py's talks to, asked in our own way: with its login, its TLS, its time-outs."""
    manager, given = client.nodes_manager, client.get_connection_kwargs()
    kept = {name: value for name, value in given.items() if name in _KEPT or name.startswith("ssl_")}
    secure = bool(given.get("ssl")) or "SSL" in getattr(given.get("connection_class"), "__name__", "")
    own = {name: value for name, value in _options(library, 0).items() if "timeout" not in name}
    pool = library.client(ssl=secure, **{**kept, **own}).connection_pool

    def make(address: str) -> Any:
        host, _, port = address.rpartition(":")
        where = manager.address_remap((host, int(port))) if manager.address_remap else (host, int(port))
        kwargs = pool.connection_kwargs | dict(zip(("host", "port"), where, strict=True))
        return library.client.from_pool(library.pool(pool.connection_class, max_connections=POOL, **kwargs))

    seeds = [f"{node.host}:{node.port}" for node in manager.startup_nodes.values()]
    return ClusterClient(seeds, make, kept.get("socket_timeout") or _PATIENCE_S)


def _plain(library: Library, url: str, options: dict[str, Any]) -> Any:
    client = library.client.from_pool(library.pool.from_url(url, **options))
    client.connection_pool.connection_class(**client.connection_pool.connection_kwargs)  # connects to nothing yet
    return client


def _cluster(library: Library, parts: SplitResult, options: dict[str, Any]) -> ClusterClient:
    if parts.path.strip("/") not in {"", "0"}:
        raise SettingsError("a Cluster has one database: leave out what follows its nodes in the store's URL")
    account, at, addresses = parts.netloc.rpartition("@")
    scheme = parts.scheme.partition("+")[0]
    hosts = [address.rpartition(":") for address in addresses.split(",")]
    seeds = [f"{host}:{int(port)}" if host else f"{port}:{_PORT}" for host, _, port in hosts]

    def make(address: str) -> Any:
        host, _, port = address.rpartition(":")
        shown = f"[{host}]" if ":" in host.strip("[]") and not host.startswith("[") else host
        return _plain(library, f"{scheme}://{account}{at}{shown}:{port}/0", options)

    opened = ClusterClient(seeds, make, options["socket_timeout"])
    opened.node(seeds[0])  # connects to nothing yet: raises what is wrong with the URL
    return opened


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
    return sentinel.master_for(service, library.client, **{"db": int(db or 0), **known, **options, **secure})

"""Servers that evict keys when they are full: a warning of workers, the API and `om up` at their start, and of `om doctor`."""

from collections.abc import Iterator

from om_api.domain.errors import SettingsError, StoreError
from om_api.ops import diagnosis
from om_api.ops.diagnosis import ERROR, Finding
from om_api.settings import Settings
from om_api.settings.sections.urls import is_redis_url
from om_api.store.driver.connection import connected
from om_api.store.fleet import health

_TIMEOUT_S = 2.0


def evicting(settings: Settings) -> Iterator[Finding]:
    """A finding for the store and for the broker if its policy evicts keys; none if it cannot be asked."""
    yield from _of("store", settings.redis_url)
    yield from of_broker(settings)


def of_broker(settings: Settings) -> Iterator[Finding]:
    """The same for a broker on a Redis server that is not the store."""
    try:
        url = settings.broker_url
    except SettingsError:
        return
    if is_redis_url(url) and url != settings.redis_url:
        yield from _of("broker", url)


def _of(about: str, url: str) -> Iterator[Finding]:
    try:
        with connected(url, _TIMEOUT_S) as connection:
            servers = connection.run(health.servers())
    except (StoreError, SettingsError):
        return
    for server in servers:
        found = diagnosis.eviction(server.info or {})
        if found.level == ERROR:
            where = f" ({server.node.address})" if server.node.address else ""
            yield found._replace(about=about, says=f"maxmemory-policy {found.says}{where}")

"""Saying that a worker process lives, so that `om doctor` knows of it, and having our scripts ready for everybody."""

import os
import re
import secrets
import socket
from collections.abc import Callable, Iterable
from contextlib import suppress

import msgspec
import structlog

from om_api.domain.errors import StoreError
from om_api.domain.extras import installed
from om_api.store.driver.connection import Connection
from om_api.store.driver.scripts import provide
from om_api.store.fleet import health, presence
from om_api.store.fleet.presence import Worker
from om_api.store.memory.keys import Keys

_NOT_IN_NAMES = re.compile(r"[^A-Za-z0-9._-]+")
_LONGEST_HOST = 100
_log = structlog.get_logger("om_workers")


class Presence:
    """One process' word that it lives, and by which settings. A store that is away is said once, until it is back."""

    def __init__(self, connection: Connection, keys: Keys, fingerprint: Callable[[], str] = str) -> None:
        self._connection = connection
        self._keys = keys
        self._fingerprint = fingerprint
        self._away = False
        self.worker = _this_process()

    def serve(self, queues: Iterable[str], concurrency: int) -> None:
        """Say from the next time on which queues the process serves, with so many tasks at a time."""
        self.worker = msgspec.structs.replace(self.worker, queues=tuple(sorted(queues)), concurrency=concurrency)

    def renew(self, lives_s: float) -> None:
        """Live on in the store's eyes for `lives_s` seconds."""
        self.worker = msgspec.structs.replace(self.worker, settings=self._fingerprint())
        try:
            self._connection.run(presence.here(self._keys, self.worker, round(lives_s * 1000)))
            self._connection.run(provide())  # an agent's ACL user may run them, and not bring them
        except StoreError as error:
            if not self._away:
                _log.warning("store_away", error=str(error)[:300])
            self._away = True
            return
        if self._away:
            _log.info("store_back")
        self._away = False

    def end(self) -> None:
        """Be gone at once; where the store is away, when the last word has run out."""
        with suppress(StoreError):
            self._connection.run(presence.gone(self._keys, self.worker.name))


def foreign_worker(connection: Connection, keys: Keys) -> Worker | None:
    """A live worker whose storage layout differs from this process's; None also while the store is unreachable."""
    with suppress(StoreError):
        return next((each for each in connection.run(health.workers(keys)) if each.layout != presence.LAYOUT), None)
    return None


def _this_process() -> Worker:
    # Containers may share a host's name and each call itself process 1: the last part tells them apart.
    host, pid = _NOT_IN_NAMES.sub("-", socket.gethostname())[:_LONGEST_HOST] or "host", os.getpid()
    return Worker(
        name=f"{host}-{pid}-{secrets.token_hex(4)}", host=host, pid=pid, version=installed(), layout=presence.LAYOUT
    )

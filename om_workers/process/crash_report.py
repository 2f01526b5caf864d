"""Reports a frozen worker: a log line, an event for each suspected unit of work, and a crash counted on its chunks.

`python -m om_workers.process.crash_report` reads a Freeze as JSON from stdin. The watchdog runs it before it ends the worker.
"""

import sys

import msgspec
import structlog

from om_api.domain.errors import InvalidInputError, StoreError
from om_api.domain.values import Scope
from om_api.settings import load_settings
from om_api.settings.logs import log_to_stderr
from om_api.store.driver.connection import Connection, connected
from om_api.store.memory import chunks, due, model_cooldown
from om_api.store.memory.keys import Keys, keys_of
from om_workers.process.event_publisher import ChunkSummary, EventPublisher

_STORE_TIMEOUT_S = 2.0
_log = structlog.get_logger("om_workers")


class Freeze(msgspec.Struct, frozen=True):
    """A worker that sent no heartbeat for `seconds`; each of `units` is a task's name and its ids."""

    id: str
    pid: int
    seconds: float
    units: list[list[str]]


class CrashReport:
    """Records a freeze in the store. A script counts the crashes, and skips a chunk that was observed meanwhile."""

    def __init__(self, connection: Connection, keys: Keys, events: EventPublisher) -> None:
        self._run, self._keys, self._events = connection.run, keys, events

    def send(self, freeze: Freeze) -> None:
        """Count a crash of each chunk and publish an event; postpone the scope of another task. Raises StoreError."""
        for task, *ids in freeze.units:
            what = ids[0] if ids else ""
            crashed = self._count(what, ids[1:], freeze.id) if task == "om.observe_chunk" else []
            for chunk, crashes in crashed:
                self._events.crashed(what, task, chunk, crashes)
            if not crashed:
                self._postpone(task, what)
                self._events.crashed(what, task)
        if not freeze.units:
            self._events.crashed("", "")

    def _count(self, scope: str, ids: list[str], by: str) -> list[tuple[ChunkSummary, int]]:
        """The chunks that are still to be observed, each with its crashes so far."""
        resource = Scope.parse(scope).resource
        found = ((name, self._run(chunks.crashed(self._keys, resource, name, by))) for name in ids)
        return [
            (ChunkSummary(crash.thread, name, crash.messages, crash.message_tokens), crash.crashes)
            for name, crash in found
            if crash
        ]

    def _postpone(self, task: str, scope: str) -> None:
        """Make a scope due some minutes later, so that it does not freeze the next worker at once."""
        if task in {"om.observe", "om.observe_chunk", "om.reflect"}:
            index = self._keys.due_reflect if task == "om.reflect" else self._keys.due_observe
            at = self._run(due.server_ms()) + model_cooldown.WAIT_S * 1000
            self._run(due.postpone(index, Scope.parse(scope), at))


def main() -> None:
    """Report the freeze that stdin describes."""
    freeze = msgspec.json.decode(sys.stdin.buffer.read(), type=Freeze)
    settings = load_settings()
    log_to_stderr(level=settings.variable("OM_LOG_LEVEL") or "INFO", form=settings.variable("OM_LOG_FORMAT"))
    _log.error("worker_frozen", pid=freeze.pid, seconds=round(freeze.seconds, 1), units=freeze.units)
    try:
        with connected(settings.redis_url, _STORE_TIMEOUT_S) as connection:
            keys = keys_of(settings, cluster=connection.cluster)
            CrashReport(connection, keys, EventPublisher(settings, connection, keys)).send(freeze)
    except (StoreError, InvalidInputError) as error:
        _log.warning("crash_not_reported", error=str(error)[:300])


if __name__ == "__main__":
    main()

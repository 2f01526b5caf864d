"""The composition root: the only place where real things are made, once a process."""

import threading
from collections.abc import Iterable
from functools import cache
from typing import Any

from om_api.archive.opening import archive_of
from om_api.client.redacting import Redacting
from om_api.domain import tokens
from om_api.settings import Settings, load_settings
from om_api.store.driver.connection import Connection, open_client
from om_api.store.fleet import stored_settings
from om_api.store.memory.keys import keys_of
from om_api.store.memory.push import ServerClock
from om_api.telemetry import opening as telemetry
from om_workers.calls.admission import Admission
from om_workers.calls.ledger import Ledger
from om_workers.calls.model_calls import ModelCalls
from om_workers.calls.redacted_requests import RedactedRequests
from om_workers.calls.registry import Registry
from om_workers.process.event_publisher import EventPublisher
from om_workers.process.heartbeat import Heartbeat
from om_workers.process.presence import Presence
from om_workers.process.settings_watcher import SettingsWatcher
from om_workers.process.stopping import Stopping
from om_workers.process.watchdog import Watchdog
from om_workers.work.archiver import Archiver
from om_workers.work.dispatcher import Dispatcher
from om_workers.work.rollout import Rollout
from om_workers.work.rounds import Rounds
from om_workers.work.services import Services, TaskQueues

_STORE_TIMEOUT_S = 10.0
_once = threading.RLock()
_queues: list[TaskQueues] = []
watchdog = Watchdog()


def build(settings: Settings, queues: TaskQueues, client: Any = None, registry: Registry | None = None) -> Services:
    """Make everything a unit of work is handed; without a registry, models are those of the settings."""
    redis = client if client is not None else open_client(settings.redis_url, _STORE_TIMEOUT_S)
    connection = Connection(redis, archive_of(settings.archive_url))
    keys, count, stopping = (
        keys_of(settings, cluster=connection.cluster),
        tokens.counter(settings.memory.tokenizer),
        Stopping(),
    )
    presence = Presence(connection, keys, lambda: settings.fingerprint)
    events = EventPublisher(settings, connection, keys)
    registry, ledger = registry or Registry(settings, stopping.wait_for), Ledger(settings, connection, keys, events)
    admission = Admission(connection, keys, stopping=stopping)
    requests = RedactedRequests(redacting := Redacting(settings, keys), connection)
    return Services(
        settings=settings,
        connection=connection,
        keys=keys,
        redacting=redacting,
        requests=requests,
        clock=ServerClock(),
        count=count,
        heartbeat=Heartbeat(connection, presence=presence),
        presence=presence,
        registry=registry,
        models=ModelCalls(registry, admission, ledger, settings, count, stopping=stopping, redacted=requests),
        stopping=stopping,
        queues=queues,
        events=events,
    )


# -- what this process has, made at first use: `celery -D` has forked by then -----------------------------------------


def use(queues: TaskQueues) -> None:
    """Say how this process passes work on; app.py does, before anything is made."""
    _queues[:] = [queues]


@cache
def settings() -> Settings:
    """This process' settings."""
    return load_settings()


@cache
def _watcher() -> SettingsWatcher:
    ours = _services()
    return SettingsWatcher(settings(), lambda known: ours.run(stored_settings.read(ours.keys, known)))


@cache
def _services() -> Services:
    telemetry.begin(
        settings(), "cortex-om-worker"
    )  # `celery -D` has forked by now: its threads would not live in a child
    return build(settings(), _queues[0])


@cache
def _dispatcher(services: Services) -> Dispatcher:
    return Dispatcher(services)


@cache
def _archiver(services: Services) -> Archiver:
    return Archiver(services)


@cache
def _rollout(services: Services) -> Rollout:
    return Rollout(services, lambda: _watcher().since)


def services() -> Services:
    """What units of work of this process are handed; changed settings, of files and of the store, are taken up first."""
    with _once:
        ours, watcher = _services(), _watcher()
    watcher.look()  # it may wait for a store that is away, and holds up nobody else
    return ours


def made() -> Services | None:
    """The same if they were made already; None else."""
    return _services() if _services.cache_info().currsize else None


def dispatcher() -> Dispatcher:
    """Who hands out work in this process; one, for it knows how large the fleet was when it looked last."""
    with _once:
        return _dispatcher(services())


def rounds() -> Rounds:
    """The rounds of this process."""
    ours = services()
    return Rounds(ours, dispatcher(), _rollout(ours).advance, _archiver(ours))


# -- its life ---------------------------------------------------------------------------------------------------------


def begin(queues: Iterable[str] = (), concurrency: int = 1) -> None:
    """Say that this process is ready to work off these queues, with so many tasks at a time."""
    services().presence.serve(queues, concurrency)
    services().heartbeat.begin(_keep)


def _keep() -> None:
    """Keep the places of what this process holds; files that changed are taken up, though no task comes."""
    dispatcher().keep()


def stop(*, at_once: bool = False) -> None:
    """Begin no call of a model any more; those in flight may end within `stop_grace`, or are left at once."""
    if ours := made():
        ours.stopping.ask(settings().memory.stop_grace)
        if at_once:
            ours.stopping.leave()


def stops() -> bool:
    """Whether this process was asked to stop."""
    ours = made()
    return ours is not None and ours.stopping.asked


def end() -> None:
    """Say that this process works no longer, if it ever began."""
    if ours := made():
        ours.heartbeat.stop()
        telemetry.end()

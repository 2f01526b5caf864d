"""The composition root: the only place where real things are made, once a process."""

from __future__ import annotations

import math
import threading
import time
from functools import cache
from typing import TYPE_CHECKING, Any

import structlog

from om_api import tokens
from om_api.settings import load_settings
from om_api.store.connection import Connection, open_client
from om_api.store.keys import Keys
from om_api.store.writing import Clock
from om_workers.admission import Admission
from om_workers.asking import Asking
from om_workers.dispatcher import Dispatcher
from om_workers.heartbeat import Heartbeat
from om_workers.ledger import Ledger
from om_workers.llm.registry import Registry
from om_workers.mover import Mover
from om_workers.observer import Observer
from om_workers.presence import Presence
from om_workers.reflector import Reflector
from om_workers.rounds import Rounds
from om_workers.stopping import Stopping
from om_workers.sweep import Sweep
from om_workers.telling import Telling
from om_workers.workshop import Workshop

if TYPE_CHECKING:
    from collections.abc import Iterable

    from om_api.settings import Problem, Settings
    from om_workers.workshop import Dispatch

_STORE_TIMEOUT_S = 10.0
_REFRESH_S = 1.0
_once = threading.RLock()
_refreshed = [0.0]
_changed = threading.Event()
_reported: set[Problem] = set()
_log = structlog.get_logger("om_workers")
_dispatch: list[Dispatch] = []


def build(settings: Settings, dispatch: Dispatch, client: Any = None, registry: Registry | None = None) -> Workshop:
    """Make everything a unit of work is handed; without a registry, models are those of the settings."""
    connection = Connection(client if client is not None else open_client(settings.redis_url, _STORE_TIMEOUT_S))
    keys, count = Keys(settings.prefix), tokens.counter(settings.memory.tokenizer)
    stopping, presence, telling = Stopping(), Presence(connection, keys), Telling(settings, connection, keys)
    registry, ledger = registry or Registry(settings), Ledger(settings, connection, keys, telling)
    admission = Admission(connection, keys, stopping=stopping)
    return Workshop(
        settings=settings,
        connection=connection,
        keys=keys,
        clock=Clock(),
        count=count,
        heartbeat=Heartbeat(connection, presence=presence),
        presence=presence,
        registry=registry,
        asking=Asking(registry, admission, ledger, settings, count, stopping=stopping),
        stopping=stopping,
        dispatch=dispatch,
        telling=telling,
    )


def use(dispatch: Dispatch) -> None:
    """Say how this process passes work on; app.py does, before anything is made."""
    _dispatch[:] = [dispatch]


@cache
def settings() -> Settings:
    """This process' settings."""
    return load_settings()


def workshop() -> Workshop:
    """This process' workshop, made at first use: a forked worker must not share its parent's connections.

    Changed files of settings are taken up here, in every process, at most once a second.
    """
    with _once:
        if time.monotonic() - _refreshed[0] >= _REFRESH_S:
            _refreshed[0] = time.monotonic()
            if changed := settings().refresh():
                _changed.set()
            report(settings().problems, changed=changed)
        return _workshop()


def settings_changed() -> bool:
    """Whether settings changed since this was asked last; who asks makes it known to every memory."""
    was = _changed.is_set()
    _changed.clear()
    return was


def report(problems: Iterable[Problem], *, changed: bool) -> None:
    """Say that settings changed, and once of each file what of it could not be taken up."""
    now = set(problems)
    if changed or now != _reported:
        _log.info("settings_changed", problems=len(now))
    for problem in sorted(now - _reported):
        _log.warning("settings_problem", file=problem.file, problem=problem.text)
    _reported.clear()
    _reported.update(now)


@cache
def _workshop() -> Workshop:
    return build(settings(), _dispatch[0])


def begin(queues: Iterable[str] = (), concurrency: int = 1) -> None:
    """Say that this process is ready to work off these queues, with so many tasks at a time."""
    workshop().presence.serve(queues, concurrency)
    workshop().heartbeat.begin(dispatcher().keep)


def stop(*, at_once: bool = False) -> None:
    """Begin no call of a model any more; those in flight may end within `stop_grace`, or are left at once."""
    if _workshop.cache_info().currsize:
        stopping = _workshop().stopping
        stopping.ask(settings().memory.stop_grace)
        if at_once:
            stopping.leave()


def stops() -> bool:
    """Whether this process was asked to stop."""
    return bool(_workshop.cache_info().currsize) and _workshop().stopping.asked


def end() -> None:
    """Say that this process works no longer, if it ever began."""
    if _workshop.cache_info().currsize:
        _workshop().heartbeat.stop()


def telling() -> Telling | None:
    """Who tells of this process' work; None while it has no workshop."""
    return _workshop().telling if _workshop.cache_info().currsize else None


def mover(mine: list[str] | None = None, until: float = math.inf) -> Mover:
    """The Mover of this process; `mine` and `until` as Mover says."""
    return Mover(workshop(), mine, until)


def observer(mine: list[str] | None = None, until: float = math.inf) -> Observer:
    """The Observer of this process; `mine` and `until` as Mover says, of what comes after the chunks that it observes."""
    return Observer(workshop(), mover(mine, until))


def reflector() -> Reflector:
    """The Reflector of this process."""
    return Reflector(workshop(), mover())


def rounds() -> Rounds:
    """The rounds of this process."""
    return Rounds(workshop(), dispatcher(), settings_changed)


def dispatcher() -> Dispatcher:
    """Who hands out work in this process; made once, for it knows how large the fleet was when it looked last."""
    with _once:
        return _dispatcher(workshop())


@cache
def _dispatcher(shop: Workshop) -> Dispatcher:
    return Dispatcher(shop)


def sweeper() -> Sweep:
    """The sweep of this process."""
    return Sweep(workshop())

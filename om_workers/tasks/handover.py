"""How a Celery worker ends: what it holds is finished within the grace or given back, and nobody waits for a lease.

Celery's own way out of a pool of threads is to wait, however long models think, and to begin even what was still waiting. A
cold stop of its own ends in an error there, for threads cannot be ended. So every way of asking leads to the warm stop, and
whoever asks again says that calls in flight are to be left at once.

A thread that computes cannot be left: its work may take minutes, for example on messages of many megabytes. Two seconds after
calls are left the process ends without such threads. Nothing is lost, because scripts commit; the attempts of their chunks
are given back, and their leases run out.
"""

import os
import signal
import sys
import threading
from contextlib import suppress
from typing import Any, Final

import structlog
from celery import bootsteps
from celery.concurrency.thread import TaskPool
from kombu.common import ignore_errors

from om_api.domain.errors import OMError
from om_api.domain.values import Scope
from om_api.store.memory import chunks
from om_workers.tasks import wiring

_REST_S: Final = 2.0  # after calls are left: for threads to end, and then to give back what others hold
_ended = threading.Event()  # also before a worker is ready
_ended.set()
_log = structlog.get_logger("om_workers")


class HandOver(bootsteps.StartStopStep):  # type: ignore[misc]  # Celery carries no types
    """Comes when nothing is consumed any more, and before the pool is waited for."""

    requires = ("celery.worker.components:Pool",)

    def stop(self, worker: Any) -> None:
        """Begin no call of a model any more, and give back to their queues what no thread has begun."""
        wiring.stop()
        _end_after(wiring.settings().memory.stop_grace)  # of `celery control shutdown` there is no signal
        if isinstance(worker.pool, TaskPool):
            worker.pool.executor.shutdown(wait=False, cancel_futures=True)
            _give_back(worker.consumer)


def _give_back(consumer: Any) -> None:
    """Celery would do it when it closes the connection, after all calls of models have ended."""
    if consumer.task_consumer:
        ignore_errors(consumer, consumer.task_consumer.recover, requeue=True)


def asked() -> None:
    """A signal asked to stop: the first time gently, the second time at once."""
    at_once = wiring.stops()
    wiring.stop(at_once=at_once)
    _end_after(0.0 if at_once else wiring.settings().memory.stop_grace)
    _hear(signal.SIGINT)  # Celery would take the second one for a cold stop


def listen() -> None:
    """Take SIGQUIT for a stop that leaves calls in flight at once."""
    _ended.clear()
    _hear(signal.SIGQUIT)


def _hear(number: signal.Signals) -> None:
    if threading.current_thread() is threading.main_thread():  # elsewhere no handler may be set
        signal.signal(number, _at_once)


def _at_once(*_: object) -> None:
    wiring.stop(at_once=True)
    _end_after(0.0)
    os.kill(os.getpid(), signal.SIGTERM)


def ended() -> None:
    """The worker has stopped: the process need not be ended."""
    _ended.set()


def _end_after(grace: float) -> None:
    threading.Thread(target=_end, args=(grace + _REST_S,), name="om-end", daemon=True).start()


def _end(seconds: float) -> None:
    """End this process, unless the worker has stopped by then."""
    if _ended.wait(seconds):
        return
    units = wiring.watchdog.units()
    _log.warning("worker_left_work", units=units)
    last = threading.Thread(target=_leave, args=(units,), daemon=True)
    last.start()
    last.join(_REST_S)  # the store may be away
    sys.stderr.flush()
    os._exit(0)


def _leave(units: list[list[str]]) -> None:
    """Give back the attempts of chunks that threads still observe, and say that this worker is gone."""
    services = wiring.made()
    for task, *ids in units if services else ():
        if services and task == "om.observe_chunk":
            for chunk in ids[1:]:
                with suppress(OMError):
                    services.run(chunks.begin(services.keys, Scope.parse(ids[0]).resource, chunk, -1))
    wiring.end()

"""How a Celery worker ends: what it holds is finished within the grace or given back, and nobody waits for a lease.

Celery's own way out of a pool of threads is to wait, however long models think, and to begin even what was still waiting. A
cold stop of its own ends in an error there, for threads cannot be ended. So every way of asking leads to the warm stop, and
whoever asks again says that calls in flight are to be left at once.
"""

import os
import signal
import threading
from typing import Any

from celery import bootsteps
from celery.concurrency.thread import TaskPool
from kombu.common import ignore_errors

from om_workers.tasks import wiring


class HandOver(bootsteps.StartStopStep):  # type: ignore[misc]  # Celery carries no types
    """Comes when nothing is consumed any more, and before the pool is waited for."""

    requires = ("celery.worker.components:Pool",)

    def stop(self, worker: Any) -> None:
        """Begin no call of a model any more, and give back to their queues what no thread has begun."""
        wiring.stop()
        if isinstance(worker.pool, TaskPool):
            worker.pool.executor.shutdown(wait=False, cancel_futures=True)
            _give_back(worker.consumer)


def _give_back(consumer: Any) -> None:
    """Celery would do it when it closes the connection, after all calls of models have ended."""
    if consumer.task_consumer:
        ignore_errors(consumer, consumer.task_consumer.recover, requeue=True)


def asked() -> None:
    """A signal asked to stop: the first time gently, the second time at once."""
    wiring.stop(at_once=wiring.stops())
    _hear(signal.SIGINT)  # Celery would take the second one for a cold stop


def listen() -> None:
    """Take SIGQUIT for a stop that leaves calls in flight at once."""
    _hear(signal.SIGQUIT)


def _hear(number: signal.Signals) -> None:
    if threading.current_thread() is threading.main_thread():  # elsewhere no handler may be set
        signal.signal(number, _at_once)


def _at_once(*_: object) -> None:
    wiring.stop(at_once=True)
    os.kill(os.getpid(), signal.SIGTERM)

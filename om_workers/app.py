"""The Celery application: `celery -A om_workers.app worker` and `celery -A om_workers.app beat`."""

import argparse
import sys
import time
from datetime import UTC, datetime, timedelta
from typing import Any

import structlog

from om_api.archive.opening import archive_of
from om_api.domain.errors import OMError, SettingsError, StoreError
from om_api.domain.extras import missing
from om_api.ops.eviction import evicting
from om_api.settings import Settings
from om_api.settings.logs import log_to_stderr
from om_api.store.driver.connection import connected
from om_api.store.memory.keys import keys_of
from om_api.telemetry import spans

try:
    import genai_prices  # noqa: F401 -- nobody should first miss it when a model has answered
    from celery import Celery
    from celery.schedules import schedule
    from celery.signals import (
        setup_logging,
        worker_init,
        worker_ready,
        worker_shutdown,
        worker_shutting_down,
    )
    from celery.worker import state
    from kombu import Exchange, Queue
    from kombu.exceptions import OperationalError

    from om_workers.process.presence import foreign_worker
    from om_workers.tasks import broker, handover, outages, ticks, wiring  # noqa: F401 -- ticks registers the tasks
    from om_workers.tasks.task_events import TICKS, Flushing, TaskEvents
    from om_workers.work import rounds
except ModuleNotFoundError as error:
    sys.stderr.write(f"Error: {missing(error, 'workers')}\n")
    sys.exit(2)  # celery would show the traceback of any other exception

_logger = structlog.get_logger("om_workers")
_QUEUES = ("ticks", "observe", "reflect", "maintenance")
_ROUTES = {
    "om.observer_tick": "ticks",
    "om.reflector_tick": "ticks",
    "om.sweep": "maintenance",
    "om.webhooks": "maintenance",
    "om.archive": "maintenance",
    "om.adopt": "maintenance",
    "om.observe": "observe",
    "om.observe_chunk": "observe",
    "om.try_model": "observe",
    "om.reflect": "reflect",
}
_CONCURRENCY = 32  # threads: a model call waits, it does not compute
# bounds a queue that nobody serves; shorter, and a worker whose clock is ahead would drop every tick
_EXPIRES_S = 86_400
_CONFIGURATION = {
    "task_default_queue": "observe",
    "task_routes": {name: {"queue": queue} for name, queue in _ROUTES.items()},
    "task_ignore_result": True,
    "task_store_errors_even_if_ignored": False,
    "task_serializer": "json",
    "accept_content": ["json"],
    "enable_utc": True,
    "timezone": "UTC",
    "beat_scheduler": "om_workers.tasks.schedule:Scheduler",  # in memory: several beats need no file, ticks guard themselves
    "beat_max_loop_interval": 1,
    "worker_consumer": "om_workers.tasks.consumer:Consumer",
    "worker_pool": "threads",
    "worker_prefetch_multiplier": 1,
    "worker_send_task_events": True,
    "worker_hijack_root_logger": False,
    "worker_cancel_long_running_tasks_on_connection_loss": False,
    "broker_connection_retry_on_startup": True,
    "broker_connection_max_retries": None,  # a worker outlives any outage of its broker
    "broker_channel_error_retry": True,  # also one that answers and refuses: it became a replica, or misses its own
    # Celery would take less after an outage and undo it where a task ends: on our threads, that read a socket which the loop
    # is reading too. One has the other's answer, and the worker waits for ever
    "worker_enable_prefetch_count_reduction": False,
}
_BEGUN, _BEGUN_S = datetime.now(UTC), time.monotonic()
_THREADS = "workers run tasks in threads"
_REFUSED = {  # Celery's options that it would ignore, or that would end the worker at its first task
    "pool": f"{_THREADS}; leave it out, and start several workers for several processes",
    "autoscale": f"{_THREADS}, a fixed number of them; set --concurrency, and start more workers",
    "time-limit": f"{_THREADS}, which cannot be ended; set observer.timeout and reflection.timeout",
    "soft-time-limit": f"{_THREADS}, which cannot be interrupted; set observer.timeout and reflection.timeout",
    "max-tasks-per-child": f"{_THREADS}, not in child processes; leave it out",
    "max-memory-per-child": f"{_THREADS}, not in child processes; limit the memory of the worker's own process",
}


class CeleryQueues:
    """Pass work on through the broker, which may lose or repeat it: the due index re-drives what is lost."""

    def __init__(self, app: Celery) -> None:
        self._app = app

    def _send(self, task: str, *ids: str) -> None:
        try:
            self._app.send_task(task, ids, headers=_sent_by())
        except OperationalError as error:
            text = (
                f"the broker did not take {task}: {str(error)[:200]}. Check OM_BROKER_URL; the due index brings it back"
            )
            raise StoreError(text) from error

    def observe(self, scope: str, lease: str) -> None:
        """See TaskQueues."""
        self._send("om.observe", scope, lease)

    def reflect(self, scope: str, lease: str) -> None:
        """See TaskQueues."""
        self._send("om.reflect", scope, lease)

    def adopt(self, *keys: str) -> None:
        """See TaskQueues."""
        self._send("om.adopt", *keys)

    def ticks(self, name: str, n: int) -> None:
        """See TaskQueues."""
        for _ in range(n):
            self._send(f"om.{name}_tick")

    def try_models(self, n: int) -> None:
        """See TaskQueues."""
        for _ in range(n):
            self._send("om.try_model")

    def waiting(self, queue: str) -> int:
        """See TaskQueues."""
        return broker.queue_length(self._app, queue)

    def held(self, queue: str) -> list[str]:
        """See TaskQueues."""
        requests = list(state.requests.values())  # at once: other threads take and end tasks meanwhile
        begun = state.active_requests
        return [each.args[0] for each in requests if each.name == f"om.{queue}" and each.args and each not in begun]


def _sent_by() -> dict[str, str] | None:
    """What a task's headers say of the span that sends it."""
    return {"traceparent": name} if (name := spans.traceparent()) else None


def make_app(settings: Settings) -> Celery:
    """A Celery application on the settings' broker, with our tasks, queues and schedule."""
    broker.register()
    url, options, tls = broker.address(settings.broker_url)
    app = Celery("om_workers", broker=url, events=TaskEvents, set_as_current=True)
    app.conf.update(
        _CONFIGURATION,
        beat_schedule=_schedule(settings),
        task_annotations={name: {"send_events": settings.memory.flower_ticks} for name in TICKS},
        worker_concurrency=int(settings.variable("OM_CONCURRENCY") or _CONCURRENCY),
        broker_transport_options=options,
        broker_use_ssl=tls,
        task_queues=_queues(settings.broker_url),
    )
    app.steps["worker"].add(handover.HandOver)
    app.steps["consumer"].add(Flushing)
    app.set_default()
    return app


def _queues(url: str) -> list[Queue]:
    arguments = broker.queue_arguments(url)
    return [Queue(name, Exchange(name), routing_key=name, queue_arguments=arguments) for name in _QUEUES]


def _schedule(settings: Settings) -> dict[str, Any]:
    intervals = {
        "om.observer_tick": settings.memory.observer_interval,
        "om.reflector_tick": settings.memory.reflector_interval,
        "om.webhooks": settings.memory.webhooks.interval,
        "om.sweep": rounds.SWEEP_S / 6,  # its guard lets one a minute through, whatever becomes of the beats
        **({"om.archive": rounds.ARCHIVE_S / 6} if settings.memory.archived else {}),
    }
    return {
        name: {
            "task": name,
            "schedule": schedule(seconds, nowfun=_steadily),
            "options": {"queue": _ROUTES[name], "expires": _EXPIRES_S},
        }
        for name, seconds in intervals.items()
    }


def _steadily() -> datetime:
    """Now, by a clock that nobody sets: a beat whose wall clock is put back would send nothing until it had caught up."""
    return _BEGUN + timedelta(seconds=time.monotonic() - _BEGUN_S)


@setup_logging.connect
def _log(**_: Any) -> None:
    ours = wiring.settings()
    ids = [spans.log_ids] if ours.memory.telemetry.logs else []
    log_to_stderr(level=ours.variable("OM_LOG_LEVEL") or "INFO", form=ours.variable("OM_LOG_FORMAT"), also=ids)
    outages.install()


@worker_init.connect
def _check_options(**_: Any) -> None:
    """End at once if the command line has options that a pool of threads does not support.

    Celery ignores `-P prefork`, its default, where the configuration names another pool, so the arguments are parsed here.
    """
    parser = argparse.ArgumentParser(add_help=False, allow_abbrev=False)
    parser.add_argument("-P", "--pool")
    for name in _REFUSED.keys() - {"pool"}:
        parser.add_argument(f"--{name}")
    asked = vars(parser.parse_known_args(sys.argv[1:])[0])
    for name, do in _REFUSED.items():
        value = asked[name.replace("-", "_")]
        if value is not None and (name, value) != ("pool", "threads"):
            raise SystemExit(f"Error: --{name} {value[:40]}: {do}")


@worker_init.connect
def _check_archive(**_: Any) -> None:
    """End at once, as for any other broken setting, where no task could be done for want of an archive that can be opened."""
    try:
        archive_of(wiring.settings().archive_url)
    except OMError as error:
        raise SystemExit(f"Error: {error}") from None


@worker_init.connect
def _check_layout(**_: Any) -> None:
    """End at once if workers with another storage layout are alive. `om doctor` reports one that starts later."""
    ours = wiring.settings()
    with connected(ours.redis_url) as connection:
        other = foreign_worker(connection, keys_of(ours))
    if other:
        raise SystemExit(
            f"Error: worker {other.name} (version {other.version}) writes memories in another layout: "
            "stop such workers first, then start this one"
        )


@worker_init.connect
def _warn_of_eviction(**_: Any) -> None:
    for found in evicting(wiring.settings()):
        _logger.warning("server_evicts", about=found.about, problem=found.says, remedy=found.do)


@worker_ready.connect
def _ready(sender: Any = None, **_: Any) -> None:
    if meaning := wiring.settings().memory.storage.meaning:
        _logger.info("storage_backend", meaning=meaning)
    wiring.watchdog.begin()
    wiring.begin(list(app.amqp.queues.consume_from), sender.pool.limit)
    handover.listen()


@worker_shutting_down.connect
def _asked_to_stop(**_: Any) -> None:
    handover.asked()


@worker_shutdown.connect
def _stopped(**_: Any) -> None:
    handover.ended()
    wiring.end()


def _made() -> Celery:
    """This process's application; where its settings cannot be in force it ends with what is wrong with them, as `om` does."""
    try:
        return make_app(wiring.settings())
    except SettingsError as error:
        sys.stderr.write(f"Error: {Settings.safe_url(str(error))}\n")
        sys.exit(2)


app = _made()
app.finalize()
wiring.use(CeleryQueues(app))

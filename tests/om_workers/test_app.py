"""The Celery application as any Celery user expects it."""

import os
import pickle
import subprocess
import sys

import pytest
from celery.signals import worker_init
from celery.worker import state
from kombu.exceptions import ContentDisallowed
from kombu.serialization import loads

from om_api import StoreError, load_settings
from om_api.store.driver.connection import Connection
from om_api.store.fleet import presence
from om_api.store.fleet.presence import Worker
from om_api.store.memory.keys import keys_of
from om_workers.app import CeleryQueues, app, make_app
from om_workers.tasks import wiring


def test_every_task_is_routed_to_a_queue_of_its_own_that_the_worker_consumes():
    tasks = {name for name in app.tasks if name.startswith("om.")}
    assert tasks == set(app.conf.task_routes)
    queues = {queue.name: queue for queue in app.conf.task_queues}
    assert {route["queue"] for route in app.conf.task_routes.values()} == set(queues)
    assert all(queue.exchange.name == queue.routing_key == name for name, queue in queues.items())


def test_nothing_but_json_is_taken_from_the_broker():
    """Whoever may write to a queue would run code of theirs in every worker."""
    for kind, told in (("pickle", pickle.dumps(["harold"])), ("yaml", b"[harold]"), ("msgpack", b"\x91\xa6harold")):
        with pytest.raises(ContentDisallowed):
            loads(told, f"application/x-{kind}", "binary", accept=app.conf.accept_content)
    assert app.conf.accept_content == ["json"]
    assert (app.conf.task_serializer, app.conf.event_serializer) == ("json", "json")


def test_a_broker_that_is_away_is_said_in_one_line_and_costs_nothing_but_time():
    """Breaks when kombu's own error gets through: a tick ended with a traceback instead of a line of log."""
    made = make_app(load_settings(environ={"OM_BROKER_URL": "redis://127.0.0.1:1/0"}))
    app.set_default()
    with pytest.raises(StoreError, match=r"did not take om\.adopt.*Check OM_BROKER_URL; the due index"):
        CeleryQueues(made).adopt("cortex:om:{harold}:messages:t-1")


def test_a_broker_of_any_make_says_how_many_tasks_wait(rail):
    _, dispatch = rail
    before = dispatch.waiting("observe")
    for name in ("harold", "albert"):
        dispatch.observe(name, "1.5")
    assert (before, dispatch.waiting("observe"), dispatch.waiting("reflect")) == (0, 2, 0)


class Held:
    def __init__(self, name, *args):
        self.name, self.args = name, args


def test_who_holds_tasks_that_it_has_not_begun_says_of_which_scopes(rail, monkeypatch):
    """Catches a place that is given away while its task waits in a worker behind slow ones."""
    told = ("om.observe", "harold"), ("om.observe", "begun"), ("om.reflect", "albert"), ("om.observer_tick",)
    held = [Held(*each) for each in told]
    monkeypatch.setattr(state, "requests", dict(enumerate(held)))
    monkeypatch.setattr(state, "active_requests", {held[1]})
    _, dispatch = rail
    assert dispatch.held("observe") == ["harold"]
    assert dispatch.held("reflect") == ["albert"]


def test_options_of_celery_that_threads_cannot_honour_end_the_worker_before_it_begins(monkeypatch):
    """Catches `-P prefork`, which started threads without a word, and `--autoscale`, which ended the worker at its first task."""
    words = ["celery", "-A", "om_workers.app", "worker", "-c", "8", "-Q", "observe,reflect", "-n", "models@%h"]
    for more in ([], ["-P", "threads"], ["--pool=threads"]):
        monkeypatch.setattr(sys, "argv", [*words, *more])
        worker_init.send(sender=None)
    for *more, says in (
        ("-P", "prefork", "--pool prefork: workers run tasks in threads"),
        ("-Psolo", "--pool solo: "),
        ("--pool=gevent", "--pool gevent: "),
        ("--autoscale", "4,1", r"--autoscale 4,1: .*--concurrency"),
        ("--time-limit=60", r"--time-limit 60: .*observer\.timeout"),
        ("--max-tasks-per-child", "9", "--max-tasks-per-child 9: "),
    ):
        monkeypatch.setattr(sys, "argv", [*words, *more])
        with pytest.raises(SystemExit, match=f"^Error: {says}"):
            worker_init.send(sender=None)


def test_a_worker_of_another_layout_ends_one_that_starts(client, server_url, prefix, monkeypatch):
    settings = load_settings(environ={"OM_REDIS_URL": server_url, "OM_PREFIX": prefix})
    monkeypatch.setattr(wiring, "settings", lambda: settings)
    monkeypatch.setattr(sys, "argv", ["celery", "-A", "om_workers.app", "worker"])
    worker_init.send(sender=None)
    older = Worker(name="w-1", host="h", pid=1, version="0.0.9")
    Connection(client).run(presence.here(keys_of(settings), older))
    with pytest.raises(
        SystemExit, match=r"w-1 \(version 0\.0\.9\) writes memories in another layout: stop such workers"
    ):
        worker_init.send(sender=None)


@pytest.mark.nightly
def test_settings_that_cannot_be_are_one_line_and_an_exit_code(tmp_path):
    """Catches 52 lines of traceback for a mistyped variable."""
    for what, name, value, says in (
        ("worker", "OM_MESAGE_THRESHOLD", "5", "environment OM_MESAGE_THRESHOLD: there is no such setting; the nearest "),
        ("beat", "OM_REDIS_URL", "redis+cluster://127.0.0.1:1", "tasks cannot wait on a Cluster: set OM_BROKER_URL to "),
    ):  # fmt: skip
        done = subprocess.run([sys.executable, "-m", "celery", "-A", "om_workers.app", what], cwd=tmp_path, text=True,
                              env={**os.environ, name: value, "OM_CONFIG_DIR": str(tmp_path)}, capture_output=True,
                              timeout=60, check=False)  # fmt: skip
        assert (done.returncode, done.stderr.count("\n")) == (2, 1), what
        assert done.stderr.startswith(f"Error: {says}"), what

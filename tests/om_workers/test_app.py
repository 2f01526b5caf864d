"""The Celery application as any Celery user expects it."""

import os
import pickle
import subprocess
import sys
from types import SimpleNamespace

import pytest
import structlog
from celery.worker import state
from kombu.exceptions import ContentDisallowed
from kombu.serialization import loads

from om_api import StoreError, load_settings
from om_workers.app import CeleryQueues, _ready, app, make_app
from om_workers.tasks import handover, wiring
from om_workers.tasks.task_events import TICKS


def test_every_task_is_routed_to_a_queue_of_its_own_that_the_worker_consumes():
    tasks = {name for name in app.tasks if name.startswith("om.")}

    assert tasks == set(app.conf.task_routes)
    queues = {queue.name: queue for queue in app.conf.task_queues}
    assert {route["queue"] for route in app.conf.task_routes.values()} == set(queues)
    assert all(queue.exchange.name == queue.routing_key == name for name, queue in queues.items())


def test_the_schedule_follows_the_settings():
    made = make_app(load_settings(environ={"OM_OBSERVER_INTERVAL": "3s", "OM_REFLECTOR_INTERVAL": "1m"}))
    app.set_default()

    seconds = {name: entry["schedule"].seconds for name, entry in made.conf.beat_schedule.items()}
    assert seconds == {"om.observer_tick": 3.0, "om.reflector_tick": 60.0, "om.webhooks": 5.0, "om.sweep": 10.0}
    assert all(entry["options"]["expires"] == 86_400 for entry in made.conf.beat_schedule.values())


@pytest.mark.parametrize("shown", [False, True])
def test_ticks_do_not_drown_flowers_history_unless_they_are_asked_for(shown):
    made = make_app(load_settings(environ={"OM_FLOWER_TICKS": "true"} if shown else {}))
    app.set_default()
    quiet = {name for name, fields in made.conf.task_annotations.items() if not fields["send_events"]}

    assert set(made.conf.task_annotations) == {"om.observer_tick", "om.reflector_tick", "om.webhooks", "om.sweep"}
    assert quiet == (set() if shown else set(made.conf.task_annotations))
    assert made.conf.worker_send_task_events


def test_a_task_does_as_it_is_annotated():
    assert {name for name in app.tasks if name.startswith("om.") and not app.tasks[name].send_events} == TICKS


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


def test_a_broker_that_cannot_be_asked_holds_nobody_up():
    made = make_app(load_settings(environ={"OM_BROKER_URL": "redis://127.0.0.1:1/0"}))
    app.set_default()

    assert CeleryQueues(made).waiting("observe") == 0


class Held:
    """A request as a worker holds it."""

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


@pytest.mark.parametrize("what", ["worker", "beat"])
@pytest.mark.parametrize(
    ("name", "value", "says"),
    [
        (
            "OM_MESAGE_THRESHOLD",
            "5",
            "environment OM_MESAGE_THRESHOLD: there is no such setting; the nearest name is OM_MESSAGE_THRESHOLD",
        ),
        (
            "OM_REDIS_URL",
            "redis+cluster://127.0.0.1:1",
            "tasks cannot wait on a Cluster: set OM_BROKER_URL to a server of their own, such as redis://10.0.0.9:6379/0",
        ),
    ],
    ids=["mistyped", "no broker"],
)
def test_settings_that_cannot_be_are_one_line_and_an_exit_code(tmp_path, what, name, value, says):
    """Catches 52 lines of traceback for a mistyped variable."""
    environ = {**os.environ, name: value, "OM_CONFIG_DIR": str(tmp_path)}
    done = subprocess.run(
        [sys.executable, "-m", "celery", "-A", "om_workers.app", what],
        env=environ,
        cwd=tmp_path,
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )

    assert done.returncode == 2
    assert done.stderr == f"Error: {says}\n"


@pytest.mark.parametrize(("environ", "said"), [({}, 0), ({"OM_STORAGE__BACKEND": "sqlite"}, 1)])
def test_a_worker_says_once_what_a_backend_of_sql_means(monkeypatch, environ, said):
    monkeypatch.setattr(wiring, "settings", lambda: load_settings(environ=environ))
    monkeypatch.setattr(wiring, "begin", lambda *_: None)
    monkeypatch.setattr(handover, "listen", lambda: None)
    with structlog.testing.capture_logs() as logged:
        _ready(SimpleNamespace(pool=SimpleNamespace(limit=1)))

    assert [line["event"] for line in logged] == ["storage_backend"] * said
    assert all("Redis stays the hot store" in line["meaning"] for line in logged)


@pytest.mark.parametrize("url", ["sqlite:///:memory:", "sqlite:///a.db?mode=rw"])
def test_a_worker_whose_archive_cannot_be_opened_ends_at_once(url, monkeypatch, tmp_path):
    """Breaks when it starts: every task would fail, and nothing be observed."""
    monkeypatch.setenv("OM_ARCHIVE__URL", url)
    monkeypatch.chdir(tmp_path)
    command = [sys.executable, "-m", "celery", "-A", "om_workers.app", "worker", "--loglevel", "error"]
    done = subprocess.run(command, capture_output=True, text=True, timeout=60, check=False)

    assert done.returncode not in {0, -9}
    assert "permitted: sqlite:///path" in done.stderr

"""The broker, the beat, and how a process begins and ends."""

import contextlib
import queue
import signal
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from functools import cache
from types import SimpleNamespace

import pytest
from celery.apps.beat import Beat
from celery.beat import Scheduler as CelerysScheduler
from celery.beat import Service
from celery.concurrency.thread import TaskPool

from om_api import load_settings
from om_workers.app import app, make_app
from om_workers.process.settings_watcher import SettingsWatcher
from om_workers.tasks import broker, handover, wiring
from om_workers.tasks.schedule import Scheduler


def test_addresses_are_written_as_the_broker_wants_them():
    for said, url, options, tls in (
        (
            "redis+sentinel://u:p@a:1,b:2/shop/3",
            "sentinel://u:p@a:1/3;sentinel://u:p@b:2/3",
            {"master_name": "shop"},
            None,
        ),
        ("redis://h:1/0?socket_timeout=5&protocol=3&db=2", "redis://h:1/2", {"socket_timeout": 5.0}, None),
        ("redis://h/0?username=u&password=p", "redis://u:p@h/0", {}, None),
        ("rediss://h:1/0", "rediss://h:1/0", {}, {"ssl_cert_reqs": "required"}),
        ("rediss://h?ssl_cert_reqs=CERT_NONE", "rediss://h", {}, {"ssl_cert_reqs": "none"}),
    ):
        assert broker.address(said) == (url, {**broker.address("redis://h:1/0")[1], **options}, tls), said


def test_queues_of_rabbitmq_are_kept_by_a_quorum_and_what_is_sent_is_confirmed():
    for url in ("amqp://om:p@h//", "amqps://h/shop", "pyamqp://h//;pyamqp://i//"):
        made = make_app(load_settings(environ={"OM_BROKER_URL": url}))
        app.set_default()
        assert {queue.queue_arguments["x-queue-type"] for queue in made.conf.task_queues} == {"quorum"}, url
        assert made.conf.broker_transport_options["confirm_publish"], url
        assert "visibility_timeout" not in made.conf.broker_transport_options, url
    assert broker.queue_arguments("redis://h/0") is None


@pytest.fixture
def channel(server_url):
    made = make_app(load_settings(environ={"OM_BROKER_URL": server_url}))
    app.set_default()
    with made.connection_for_write() as connection:
        yield connection.channel()
    made.close()


def test_a_channel_whose_connections_are_gone_makes_another_client(channel):
    """Catches a client that goes on with the pool of before an outage."""
    with channel.conn_or_acquire() as before:
        channel._disconnect_pools()
    with channel.conn_or_acquire() as after:
        assert after is not before
        assert after.ping()


@pytest.fixture
def stops(monkeypatch):
    told = []
    monkeypatch.setattr(wiring, "stop", lambda *, at_once=False: told.append(at_once))
    monkeypatch.setattr(wiring, "stops", lambda: bool(told))
    return told


def test_what_no_thread_has_begun_goes_back_to_its_queue_and_what_runs_may_end(stops):
    """Catches a pool that is waited for, as Celery does: it begins even what was still waiting."""
    pool, begun, may_end, given_back = TaskPool(1), threading.Event(), threading.Event(), []
    running = pool.executor.submit(lambda: (begun.set(), may_end.wait(30)))
    waiting = pool.executor.submit(pytest.fail, "begun")
    begun.wait(30)
    queue = SimpleNamespace(recover=lambda *, requeue: given_back.append(requeue))
    consumer = SimpleNamespace(task_consumer=queue, connection_errors=(), channel_errors=())
    handover.HandOver(None).stop(SimpleNamespace(pool=pool, consumer=consumer))
    assert (stops, waiting.cancelled(), running.done(), given_back) == ([False], True, False, [True])
    may_end.set()
    assert running.result(30)


def test_the_first_signal_asks_gently_and_the_second_one_at_once(stops):
    interrupt = signal.getsignal(signal.SIGINT)
    try:
        handover.asked()
        handover.asked()
    finally:
        signal.signal(signal.SIGINT, interrupt)
    assert stops == [False, True]


THREADS = 8


@pytest.fixture
def process(world, monkeypatch):
    """This process as it begins, with the world's settings; who makes services of them is slow, and counted."""
    built = []

    def build(settings, queues):
        built.append(queues)
        time.sleep(0.05)
        return world.services

    monkeypatch.setattr(wiring, "build", build)
    monkeypatch.setattr(wiring, "settings", lambda: world.settings)
    monkeypatch.setattr(wiring, "_watcher", lambda: SettingsWatcher(world.settings))
    monkeypatch.setattr(wiring, "_services", cache(wiring._services.__wrapped__))
    monkeypatch.setattr(wiring, "_dispatcher", cache(wiring._dispatcher.__wrapped__))
    monkeypatch.setattr(wiring, "_queues", [world.dispatch])
    return built


def test_threads_that_begin_at_once_work_with_the_same_services(world, process):
    """Catches a lock that is missing: each thread had connections, a heartbeat and a place under the limits of its own."""
    at_once = threading.Barrier(THREADS)

    def begin(_):
        at_once.wait(30)
        return wiring.dispatcher()

    with ThreadPoolExecutor(THREADS) as pool:
        dispatchers = list(pool.map(begin, range(THREADS)))
    assert process == [world.dispatch]
    assert len(set(map(id, dispatchers))) == 1


def test_a_process_that_is_told_to_stop_begins_no_call_any_more(world, process):
    wiring.services()
    before = wiring.stops()
    wiring.stop()
    assert (before, wiring.stops(), world.services.stopping.asked) == (False, True, True)


def test_a_process_that_gets_no_task_takes_changed_files_up_all_the_same(process, monkeypatch):
    """Catches an idle worker that says for hours that it goes by the settings of its start."""
    looked = threading.Event()
    monkeypatch.setattr(SettingsWatcher, "look", lambda _: looked.set())
    wiring.begin(["observe"])
    looked.clear()
    wiring._keep()
    wiring.end()
    assert looked.is_set()


def test_a_stop_ends_a_process_in_which_a_thread_computes_and_gives_its_attempt_back(world, process, monkeypatch):
    """Catches a chunk of 21 MB of text: its worker ended 88 s after SIGTERM."""
    codes, chunk = queue.Queue(), world.services.keys.of("harold").chunk("c1")
    monkeypatch.setattr(handover.os, "_exit", codes.put)
    monkeypatch.setattr(handover, "_REST_S", 0.5)
    monkeypatch.setattr(handover, "_hear", lambda _: None)
    monkeypatch.setattr(wiring, "settings", lambda: load_settings(environ={"OM_STOP_GRACE": "0s"}))
    wiring.services()
    world.client.hset(chunk, mapping={"state": "sealed", "attempts": 1})
    with wiring.watchdog.at_work("om.observe_chunk", "harold", "c1"):
        handover.listen()
        handover.asked()
        assert codes.get(timeout=10) == 0
    assert world.client.hget(chunk, "attempts") == b"0"
    handover.ended()
    handover._end(0.0)
    assert codes.empty(), "the worker has stopped"


def test_the_beat_adds_no_tick_to_a_queue_in_which_others_wait(rail):
    """Catches ticks that pile up while no worker runs: an hour's outage left 840 of them before any work."""
    made, dispatch = rail
    beat = Scheduler(made, lazy=True)
    beat.setup_schedule()
    sent = [beat.apply_async(beat.schedule["om.observer_tick"], advance=False) is not None for _ in range(15)]
    assert sent == [True] * 11 + [False] * 4
    assert dispatch.waiting("ticks") == 11


@pytest.fixture
def said(monkeypatch, tmp_path):
    file = tmp_path / "beat"
    monkeypatch.setattr(wiring, "settings", lambda: load_settings(environ={"OM_BEAT_FILE": str(file)}))
    return file


@pytest.mark.parametrize("wait", [0, 20])
def test_a_beat_says_whenever_a_tick_is_on_its_way_or_others_still_wait(rail, said, wait):
    """Catches a health check that only sees a process: one that hangs would stay healthy."""
    made, _ = rail
    beat = Scheduler(made, lazy=True)
    beat.setup_schedule()
    for _ in range(wait + 1):
        said.unlink(missing_ok=True)
        beat.apply_async(beat.schedule["om.observer_tick"], advance=False)
    assert said.exists()


def test_a_beat_sends_ticks_again_when_its_broker_is_back(rail, monkeypatch):
    """Catches a length that is asked for on the beat's own channel: after an outage no tick was ever sent again."""
    made, dispatch = rail
    beat = Scheduler(made, lazy=True)
    beat.setup_schedule()
    monkeypatch.setattr(
        Scheduler, "producer", property(lambda _: pytest.fail("a channel of before the outage was asked"))
    )
    assert beat.apply_async(beat.schedule["om.observer_tick"], advance=False)
    assert dispatch.waiting("ticks") == 1


@pytest.fixture
def _handlers():
    kept = {number: signal.getsignal(number) for number in (signal.SIGTERM, signal.SIGINT)}
    yield
    for number, handler in kept.items():
        signal.signal(number, handler)


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
@pytest.mark.usefixtures("_handlers")
def test_a_beat_that_is_told_to_end_in_a_callback_ends_with_the_next_tick(rail, monkeypatch, number):
    """Catches Celery's own way: what a handler raises within a weak reference's callback is printed, and forgotten."""
    ticks = []

    def tick(_):
        ticks.append(number)
        assert len(ticks) < 20, "it goes on and on"
        with contextlib.suppress(SystemExit):  # as such a callback does
            signal.raise_signal(number)

    monkeypatch.setattr(CelerysScheduler, "tick", tick)
    made, _ = rail
    service = Service(made, scheduler_cls=Scheduler)
    Beat(app=made).install_sync_handler(service)
    service.start()
    assert len(ticks) == 1

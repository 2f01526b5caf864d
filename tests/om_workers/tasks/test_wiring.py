"""A process makes what it works with once, at its first task, and ends though it never made it."""

import threading
import time
from concurrent.futures import ThreadPoolExecutor
from functools import cache

import pytest

from om_workers.process.settings_watcher import SettingsWatcher
from om_workers.tasks import wiring

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


def test_a_process_that_made_nothing_ends_without_making_anything(process):
    wiring.stop(at_once=True)
    wiring.end()

    assert (wiring.made(), wiring.stops(), process) == (None, False, [])


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

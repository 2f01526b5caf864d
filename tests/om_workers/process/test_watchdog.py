"""A worker whose GIL is held is reported and ended, and no other one is."""

import os
import signal
import subprocess
import sys
import textwrap

import pytest
from processes import inherited
from scene import HAROLD, ready, seal

from om_api import load_settings
from om_api.domain.events import Wanted
from om_api.store.driver.connection import Connection
from om_api.store.fleet import event_stream
from om_api.store.memory import due, scope_state
from om_workers.process.crash_report import CrashReport, Freeze
from om_workers.process.event_publisher import EventPublisher
from om_workers.process.watchdog_process import CpuUsage, Silence, Watch

LOOKS = 10  # in the limit


def _looks_until_frozen(usages):
    silence = Silence(1.0)
    return next((look for look, usage in enumerate(usages, 1) if silence.count(usage)), None)


def test_silence_is_a_freeze_only_of_a_worker_that_computes_or_waits_for_very_long():
    """Catches a machine that wakes up: a worker that was stopped for an hour was killed for an hour's silence."""
    computes = [CpuUsage({7: 5.0, 8: 0.1 * look}) for look in range(200)]
    stopped = [CpuUsage({7: 5.0}, stopped=True)] * 100
    for case, usages, frozen_at in (
        ("computes", computes, LOOKS),
        ("gets a fifth of a CPU", [CpuUsage({7: 0.02 * look}) for look in range(200)], 26),
        (
            "has many threads that share the GIL",
            [CpuUsage(dict.fromkeys(range(32), 0.1 * look / 32)) for look in range(99)],
            None,
        ),
        ("waits", [CpuUsage({7: 5.0})] * 200, 20 * LOOKS),
        ("is stopped", stopped, None),
        ("was stopped, and computes", [*stopped, *(CpuUsage({7: 5 + 0.1 * look}) for look in range(50))], 99 + LOOKS),
        ("cannot be measured", [None] * 50, 4 * LOOKS),
    ):
        assert _looks_until_frozen(usages) == frozen_at, case
    silence = Silence(1.0)
    for usage in computes[: LOOKS - 1]:
        silence.count(usage)
    silence.reset()
    assert not any(silence.count(usage) for usage in computes[: LOOKS - 1])


def test_only_what_a_thread_that_computed_worked_at_is_to_blame():
    """Catches a chunk that waits for its model in the process that another one freezes: twice, and it was quarantined."""
    watch = Watch(7, 1.0)
    watch._parse(b'[1, ["om.observe_chunk", "alice", "c1"]]\n[2, ["om.observe_chunk", "bob", "c2"]]\n[3, ["om.ref')
    watch._parse(b'lect", "carl"]]\n[3, []]\nnot JSON\n')
    for cpu_s in (0.0, 0.6):
        watch._silence.count(CpuUsage({1: cpu_s, 2: 3.0}))
    assert watch.suspects() == [["om.observe_chunk", "alice", "c1"]]
    watch._silence.reset()
    assert len(watch.suspects()) == 2, "where it cannot be measured"


def _report(store, *units, by="f1"):
    events = EventPublisher(load_settings(environ={}), connection := Connection(store.client), store.keys)
    CrashReport(connection, store.keys, events).send(Freeze(by, 7, 5.0, [list(each) for each in units]))


def test_a_crash_report_counts_waiting_chunks_once_and_defers_other_work(store):
    seal(store, "c1", 1)
    ready(store, "c2", 2)
    store.run(due.mark(store.keys.due_reflect, ["harold"]))
    for _ in range(2):  # a reply was lost, and it is sent again
        _report(store, ("om.observe_chunk", "harold", "c1"))
    _report(store, ("om.observe_chunk", "harold", "c2"), ("om.reflect", "harold", "1.5"), by="f2")
    _report(store, by="f3")
    assert [chunk.crashes for chunk in store.run(scope_state.look(store.keys, HAROLD)).chunks] == [1, 0]
    told = store.run(event_stream.newest(store.keys, Wanted(kinds=("crashed",)), 10)).events
    said = [(each.resource, each.task, each.thread, each.chunk, each.crashes) for each in told]
    chunk = ("harold", "om.observe_chunk", "t1", "c1", 1)
    no_chunk = ("harold", "om.observe_chunk", None, None, None), ("harold", "om.reflect", None, None, None)
    assert said == [chunk, chunk, *no_chunk, ("", None, None, None, None)]
    seconds, _ = store.client.time()
    assert store.client.zscore(store.keys.due_reflect.of("harold"), "harold") > (seconds + 200) * 1000


FREEZING = """
    import re, time
    from om_workers.process.watchdog import Watchdog
    watchdog = Watchdog(frozen_s=0.5)
    watchdog.begin()
    while not watchdog._process:
        time.sleep(0.01)
    time.sleep(1.0)
    print("alive", flush=True)
    with watchdog.at_work("om.observe_chunk", "harold", "c1"):
        re.match(r"(a+)+$", "a" * 40 + "b")
"""


@pytest.mark.nightly
def test_a_process_that_holds_its_gil_is_ended_and_its_stacks_are_reported(own_store, store, server_url):
    seal(store, "c1", 1)
    environ = {**inherited(), "OM_REDIS_URL": server_url, "OM_PREFIX": os.environ["OM_PREFIX"]}
    done = subprocess.run([sys.executable, "-c", textwrap.dedent(FREEZING)], env=environ, text=True, capture_output=True,
                          timeout=60, check=False)  # fmt: skip
    assert (done.returncode, done.stdout) == (-signal.SIGABRT, "alive\n")
    assert "worker_frozen" in done.stderr
    assert 'File "<string>"' in done.stderr, "the stacks"
    (chunk,) = store.run(scope_state.look(store.keys, HAROLD)).chunks
    assert chunk.crashes == 1

"""Two worker processes with 32 threads each share one limit of a model: what its provider counts."""

import subprocess
import sys
import time
from pathlib import Path

import pytest
from model_server import ModelServer
from processes import inherited
from servers import Server
from world import wait_until

PER_MINUTE, WINDOW_S, SECONDS = 600, 5, 20


def _calls_of_two_workers(folder, store, model):
    environ = {
        **inherited(),
        "PYTHONPATH": str(Path(__file__).parents[1]),
        "OM_REDIS_URL": store.url,
        "OM_MODELS__COUNTED__BASE_URL": model.url,
        "OM_MODELS__COUNTED__LIMITS": f"{{requests_per_minute: {PER_MINUTE}}}",
    }
    command = [sys.executable, "-m", "calling_worker", str(SECONDS + 2), "32"]
    workers = [subprocess.Popen(command, env=environ, cwd=folder) for _ in range(2)]
    try:
        wait_until(lambda: model.calls, "the first call", 60)
        end = model.calls[0].started + SECONDS
        time.sleep(max(0.0, end - time.monotonic()))
        return sorted(call.started for call in model.calls if call.started < end)
    finally:
        for worker in workers:
            worker.kill()
            worker.wait()


@pytest.mark.nightly
def test_two_workers_with_32_threads_each_use_one_limit_and_keep_to_it(tmp_path):
    """Fails when each worker counts by itself: 100 calls in a window."""
    with Server(tmp_path) as store, ModelServer() as model:
        calls = _calls_of_two_workers(tmp_path, store, model)

    allowed = PER_MINUTE / 60 * WINDOW_S
    busiest = max(sum(first <= call < first + WINDOW_S for call in calls) for first in calls)
    assert busiest <= allowed + PER_MINUTE / 60  # and those of one second more that came early
    assert len(calls) >= 0.9 * PER_MINUTE / 60 * SECONDS

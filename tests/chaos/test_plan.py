"""The plan of a run has every fault in it, and faults do to a server what they are to do."""

import signal
import time
from collections import Counter
from itertools import pairwise

import pytest

from chaos import clock, plan
from chaos.plan import Run
from chaos.server import AofServer

_ENDS = {"kill server": "start server", "term server": "start server", "pause server": "resume server"}


def test_a_full_plan_holds_what_a_run_must_see_and_asks_nothing_of_a_server_that_is_away():
    for seed in range(5):
        planned = [fault.what for fault in plan.faults(Run(seed=seed))]
        happens = Counter(planned)
        steps = [what for what in planned if what not in {"kill worker", "kill beat"}]

        assert happens["kill worker"] >= 50, seed
        assert happens["start server"] == happens["kill server"] + happens["term server"] >= 3, seed
        assert min(happens[what] for what in ("kill beat", "pause server", "drop connections", "lose broker")) >= 1
        assert all(following == _ENDS[what] for what, following in pairwise(steps) if what in _ENDS), seed


@pytest.mark.nightly
def test_a_cut_tail_takes_what_came_last_and_the_rest_is_there_again(tmp_path):
    with AofServer(tmp_path, "always") as server, server.client() as client:
        for n in range(100):
            client.set(f"key-{n}", "x" * 100)
        server.stop(signal.SIGKILL)
        took = server.cut_tail(5_000)
        server.start()
        left = sorted(int(key.decode().removeprefix("key-")) for key in client.scan_iter("*", 1000))

    assert took == 5_000
    assert 20 < len(left) < 80
    assert left == list(range(len(left)))


@pytest.mark.nightly
@pytest.mark.skipif(not clock.library(), reason="libfaketime is not installed")
def test_a_server_that_is_started_again_is_further_ahead_and_has_what_it_had(tmp_path):
    with AofServer(tmp_path, "always", leap_s=3_600) as server, server.client() as client:
        seen = []
        for _ in range(3):
            seen.append(client.time()[0] - time.time())
            client.incr("starts")
            client.expire("starts", 5_000)
            server.stop(signal.SIGKILL)
            server.start()
        left = client.exists("starts")

    assert seen == [pytest.approx(n * 3_600, abs=5) for n in range(3)]
    assert (server.ahead_s, left) == (3 * 3_600, 1)

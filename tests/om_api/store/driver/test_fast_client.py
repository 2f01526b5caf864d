"""A line to the server: never one that was closed meanwhile, never another one's reply, never a parent's connection."""

import os

import pytest
import redis
from driven import waiting
from redis.exceptions import ConnectionError as RedisConnectionError
from servers import BINARIES, Server
from world import wait_until

from om_api.domain.errors import StoreError
from om_api.store.driver.async_connection import open_async_client
from om_api.store.driver.connection import Connection, open_client
from om_api.store.driver.steps import Batch

both_faces = pytest.mark.parametrize("open_", [open_client, open_async_client], ids=["blocking", "asyncio"])


@pytest.fixture
def opened():
    """Clients that are closed where they were opened."""
    clients = []
    yield lambda open_, url: clients.append(open_(url)) or clients[-1]
    for client in clients:
        waiting(client.aclose() if hasattr(client, "aclose") else client.close())


@both_faces
def test_calls_one_after_the_other_share_one_connection(server_url, opened, open_):
    client = opened(open_, server_url)

    assert len({waiting(client.client_id()) for _ in range(3)}) == 1


@both_faces
def test_a_connection_that_was_closed_meanwhile_is_replaced_before_it_is_used(tmp_path, opened, open_):
    """Breaks when it is found out by the command: nobody knows then what became of it."""
    with Server(tmp_path, binary=BINARIES["embedded"]) as server, server.client() as plain:
        client = opened(open_, server.url)
        first = waiting(client.client_id())
        plain.client_kill_filter(_id=first)
        wait_until(lambda: len(plain.client_list()) == 1, "the end of the connection")

        assert waiting(client.client_id()) != first


@both_faces
def test_a_reply_that_nobody_read_is_not_given_to_the_next(server_url, opened, open_):
    client = opened(open_, server_url)
    connection = waiting(client.connection_pool.get_connection())
    waiting(connection.send_command("ECHO", "left behind"))
    waiting(client.connection_pool.release(connection))
    wait_until(lambda: waiting(connection.can_read()), "the reply")

    assert waiting(client.echo("mine")) == b"mine"


def test_a_forked_process_opens_a_connection_of_its_own(server_url, opened, monkeypatch):
    client = opened(open_client, server_url)
    parents = client.client_id()
    monkeypatch.setattr(os, "getpid", lambda: -1)

    assert client.client_id() != parents


def test_an_interrupt_between_sending_and_reading_leaves_no_reply_to_the_next(server_url, opened, monkeypatch):
    """Breaks when the connection is kept: it is quiet for as long as the server has not replied."""
    client = opened(open_client, server_url)
    with monkeypatch.context() as once, pytest.raises(KeyboardInterrupt):
        once.setattr(client, "parse_response", interrupted)
        client.execute_command("BLPOP", "nothing", 0.2)

    assert client.echo("mine") == b"mine"


def interrupted(*_):
    raise KeyboardInterrupt


_ASKS = {
    "a command": lambda client: client.client_id(),
    "a script": lambda client: client.evalsha("0" * 40, 0),
    "a batch": lambda client: Connection(client).run(Batch([("PING",)])),
}


@pytest.mark.parametrize("asks", [pytest.param(ask, id=name) for name, ask in _ASKS.items()])
@pytest.mark.parametrize("stumble", [AttributeError("sendall"), TypeError("fileno()"), ValueError("-1")], ids=repr)
def test_who_waits_while_another_thread_closes_the_client_is_told_so(server_url, opened, monkeypatch, asks, stumble):
    """Breaks when what redis-py stumbles over gets through: whoever follows events ends with an error that is none of ours."""
    client = opened(open_client, server_url)

    def closed_under_it(*_, **__):
        client.close()
        raise stumble

    client.client_id()  # connects
    monkeypatch.setattr(redis.Connection, "read_response", closed_under_it)
    with pytest.raises((RedisConnectionError, StoreError), match="the client was closed meanwhile"):
        asks(client)


def test_an_error_that_is_none_of_closing_stays_what_it_is(server_url, opened):
    with pytest.raises(UnicodeEncodeError):
        opened(open_client, server_url).echo("\ud800")


def test_a_connection_that_is_closed_while_it_is_looked_at_is_replaced(server_url, opened, monkeypatch):
    client = opened(open_client, server_url)
    first, can_read, stumbles = client.client_id(), redis.Connection.can_read, [TypeError("fileno()")]

    def closed_under_it(connection, *given, **named):
        if stumbles:
            connection.disconnect()
            raise stumbles.pop()
        return can_read(connection, *given, **named)

    monkeypatch.setattr(redis.Connection, "can_read", closed_under_it)

    assert client.client_id() != first

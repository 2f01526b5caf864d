"""A line to the server: never one that was closed meanwhile, never another one's reply, never a parent's connection."""

import os

import pytest
import redis
from driven import waiting
from redis.exceptions import ConnectionError as RedisConnectionError
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
def test_a_connection_that_was_closed_meanwhile_is_replaced_before_it_is_used(server_url, opened, open_):
    """Breaks when it is found out by the command: nobody knows then what became of it."""
    with redis.Redis.from_url(server_url) as plain:
        client = opened(open_, server_url)
        first = waiting(client.client_id())
        plain.client_kill_filter(_id=first)
        wait_until(lambda: str(first) not in {each["id"] for each in plain.client_list()}, "its end")

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


def test_a_client_that_another_thread_closes_is_told_so_and_a_closed_connection_is_replaced(
    server_url, opened, monkeypatch
):
    """Breaks when what redis-py stumbles over gets through: whoever follows events ends with an error that is none of ours."""
    asks = (
        lambda client: client.client_id(),
        lambda client: client.evalsha("0" * 40, 0),
        lambda client: Connection(client).run(Batch([("PING",)])),
    )
    for ask, stumble in zip(asks, (AttributeError("sendall"), TypeError("fileno()"), ValueError("-1")), strict=True):
        client = opened(open_client, server_url)

        def closed_under_it(*_, client=client, stumble=stumble, **__):
            client.close()
            raise stumble

        client.client_id()  # connects
        with monkeypatch.context() as patched:
            patched.setattr(redis.Connection, "read_response", closed_under_it)
            with pytest.raises((RedisConnectionError, StoreError), match="the client was closed meanwhile"):
                ask(client)

    client = opened(open_client, server_url)
    first, can_read, stumbles = client.client_id(), redis.Connection.can_read, [TypeError("fileno()")]

    def closed_while_looked_at(connection, *given, **named):
        if stumbles:
            connection.disconnect()
            raise stumbles.pop()
        return can_read(connection, *given, **named)

    monkeypatch.setattr(redis.Connection, "can_read", closed_while_looked_at)
    assert client.client_id() != first

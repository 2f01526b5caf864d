"""However a batch is sent, it says what redis-py's pipeline says, and its errors cost nobody else anything."""

import inspect

import pytest
import redis
import redis.asyncio
from driven import waiting
from redis.asyncio.retry import Retry as AsyncRetry
from redis.backoff import NoBackoff
from redis.retry import Retry
from scene import push

from om_api import NotReplicatedError, StoreError
from om_api.domain.errors import ForeignDataError
from om_api.store.driver.async_connection import AsyncConnection, open_async_client
from om_api.store.driver.connection import Connection, open_client
from om_api.store.driver.steps import Batch, Replicas, Verb, pack

COMMANDS = [
    ("TIME",),
    ("SET", "{h}:text", b"\xff\x00", "EX", 60),
    ("HSET", "{h}:hash", "a", 1, "b", 2.5),
    ("HGETALL", "{h}:hash"),
    ("ZADD", "{h}:sorted", "NX", 1.5, b"one", 2, "two"),
    ("ZRANGE", "{h}:sorted", 0, -1, "WITHSCORES"),
    ("ZSCORE", "{h}:sorted", "none"),
    ("ZMSCORE", "{h}:sorted", "one", "none"),
    ("SMEMBERS", "{h}:nothing"),
    ("EXISTS", "{h}:text"),
    ("GET", "{h}:text"),
    ("PTTL", "{h}:none"),
]
WRONG = [("SET", "{h}:text", 1), ("HGETALL", "{h}:text"), ("GET", "{h}:text")]


@pytest.fixture(params=["blocking", "asyncio"])
def connect(request, server_url):
    """A connection over a client that is made of a URL, closed in the end."""
    clients = []

    def connected(theirs=False):
        own, library, retry, made = (
            (open_client, redis, Retry, Connection)
            if request.param == "blocking"
            else (open_async_client, redis.asyncio, AsyncRetry, AsyncConnection)
        )
        client = library.Redis.from_url(server_url, retry=retry(NoBackoff(), 3)) if theirs else own(server_url)
        clients.append(client)
        return made(client)

    with redis.Redis.from_url(server_url) as plain:
        plain.delete("{h}:text", "{h}:hash", "{h}:sorted")
    yield connected
    for client in clients:
        waiting(client.aclose() if hasattr(client, "aclose") else client.close())


def asked(connection, commands, **how):
    return waiting(connection.run(Batch(commands, **how)))


def test_a_batch_is_answered_as_redis_pys_pipeline_answers_it_and_every_reply_is_read(connect):
    """Breaks when one stops reading at the first error: whoever asks next would be given what was left."""
    for atomic in (True, False):
        ours, theirs = (asked(connect(theirs), COMMANDS, atomic=atomic) for theirs in (False, True))
        for number in (0, 2, 4):  # the time, and how much was new
            ours[number] = theirs[number] = None
        assert ours == theirs
        assert [type(reply) for reply in ours] == [type(reply) for reply in theirs]

        connection = connect()
        first = waiting(connection.client.client_id())
        with pytest.raises(StoreError, match=r"WRONGTYPE.*has a value of another program"):
            asked(connection, WRONG, atomic=atomic)
        with pytest.raises(UnicodeEncodeError):
            asked(connection, [("SET", "{h}:text", "\ud800"), ("TIME",)], atomic=atomic)
        assert waiting(connection.client.echo("mine")) == b"mine"
        assert waiting(connection.client.client_id()) == first


def test_a_client_that_tries_again_by_itself_does(connect, server_url, monkeypatch):
    """Breaks when its connections are used without its own policy: nobody would try again at all."""
    connection = connect(theirs=True)
    asked(connection, COMMANDS[:3])
    pool = connection.client.connection_pool
    get = pool.get_connection

    def killed(found):
        monkeypatch.undo()
        with redis.Redis.from_url(server_url) as plain:
            plain.client_kill_filter(_type="normal", skipme=True)
        return found

    async def later(found):
        return killed(await found)

    is_async = inspect.iscoroutinefunction(get)
    monkeypatch.setattr(pool, "get_connection", lambda *_: later(get()) if is_async else killed(get()))

    assert asked(connection, [("GET", "{h}:text"), ("EXISTS", "{h}:text")]) == [b"\xff\x00", 1]


def test_a_packed_and_a_slim_batch_read_what_any_other_does_and_leave_the_connection_in_order(store):
    push(store, 1, 2)
    of = store.keys.of("harold")
    reads = [("ZCARD", of.messages("t1")), ("HGET", of.tokens, "#none"), ("ZMSCORE", store.keys.due_observe, "harold")]
    plain, slim = (store.run(Batch(reads, atomic=False, slim=slim)) for slim in (False, True))
    assert plain[:2] == slim[:2] == [2, None]
    assert [float(score) for score in slim[2]] == plain[2]

    assert store.run(Batch(reads[:2], packed=pack(reads[:2]))) == [2, None]
    wrong = [("GET", of.messages("t1")), ("PING",)]
    with pytest.raises(StoreError, match="has a value of another program"):
        store.run(Batch(wrong, packed=pack(wrong)))
    assert store.run(Batch(reads[:1])) == [2]


@pytest.mark.parametrize("theirs", [False, True], ids=["ours", "one that tries again"])
def test_a_write_without_replicas_is_told_apart_from_one_that_was_refused(connect, theirs):
    connection = connect(theirs)
    asked(connection, [("SET", "{h}:text", "1")])

    def written(command, *replicas):
        waiting(connection.run(Verb("batch", ["{h}:text"], [2, command, "{h}:text"], lambda reply: reply, *replicas)))

    written("GET")
    with pytest.raises(NotReplicatedError, match="0 had it after 10 ms") as waited:
        written("GET", Replicas(1, 10, "{h}:mark"))
    with pytest.raises(StoreError) as refused:
        written("HGETALL", Replicas(1, 10, "{h}:m"))
    assert waited.value.stored is None
    assert (type(refused.value), refused.value.stored) == (ForeignDataError, False)

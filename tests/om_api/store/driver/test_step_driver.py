"""However a batch is sent, it says what redis-py's pipeline says, and its errors cost nobody else anything."""

import inspect
import traceback

import pytest
import redis
import redis.asyncio
from driven import waiting
from redis.asyncio.retry import Retry as AsyncRetry
from redis.backoff import NoBackoff
from redis.retry import Retry
from scene import call, push

from om_api import NotReplicatedError, StoreError
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


@pytest.mark.parametrize("atomic", [True, False])
def test_a_batch_is_answered_as_redis_pys_pipeline_answers_it(connect, atomic):
    ours, theirs = (asked(connect(theirs), COMMANDS, atomic=atomic) for theirs in (False, True))

    for number in (0, 2, 4):  # the time, and how much was new
        ours[number] = theirs[number] = None
    assert ours == theirs
    assert [type(reply) for reply in ours] == [type(reply) for reply in theirs]


@pytest.mark.parametrize("atomic", [True, False])
def test_a_command_that_is_refused_is_told_and_every_other_reply_was_read(connect, atomic):
    """Breaks when one stops reading at the first error: whoever asks next would be given what was left."""
    connection = connect()
    first = waiting(connection.client.client_id())
    with pytest.raises(StoreError, match=r"WRONGTYPE.*holds something that is not ours"):
        asked(connection, WRONG, atomic=atomic)

    assert waiting(connection.client.echo("mine")) == b"mine"
    assert waiting(connection.client.client_id()) == first


def test_what_cannot_be_sent_takes_no_connection(connect):
    connection = connect()
    first = waiting(connection.client.client_id())
    with pytest.raises(UnicodeEncodeError):
        asked(connection, [("SET", "{h}:text", "\ud800"), ("TIME",)])

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


def test_what_is_packed_is_answered_as_what_is_not(store):
    push(store, 1)
    asked = [("ZCARD", store.keys.of("harold").messages("t1")), ("GET", store.keys.of("harold").scope)]
    packed, plain = ((store.run(Batch(asked, packed=how))) for how in (pack(asked), b""))

    assert packed == plain == [1, None]


def test_a_packed_question_that_is_refused_says_why_and_leaves_the_connection_in_order(store):
    push(store, 1)
    asked = [("GET", store.keys.of("harold").messages("t1")), ("PING",)]
    with pytest.raises(StoreError, match="holds something that is not ours"):
        store.run(Batch(asked, packed=pack(asked)))

    assert store.run(Batch([("ZCARD", store.keys.of("harold").messages("t1"))])) == [1]


def test_commands_are_answered_in_their_order(store):
    push(store, 1, 2)
    of = store.keys.of("harold")
    words = [2, "ZCARD", of.messages("t1"), 3, "HGET", of.tokens, "#t1", 2, "EXISTS", of.scope]

    assert call(store, "batch", [of.messages("t1"), of.tokens, of.scope], words) == [2, b"2", 0]


def test_a_slim_batch_reads_what_any_other_does(store):
    push(store, 1, 2)
    of = store.keys.of("harold")
    commands = [
        ("ZCARD", of.messages("t1")),
        ("HGET", of.tokens, "#none"),
        ("ZMSCORE", store.keys.due_observe, "harold"),
    ]

    plain, slim = (store.run(Batch(commands, atomic=False, slim=slim)) for slim in (False, True))
    assert plain[:2] == slim[:2] == [2, None]
    assert [float(score) for score in slim[2]] == plain[2]


def test_who_finds_no_server_reads_one_traceback():
    """Catches three chained ones, of a socket and of redis-py, before the line that says what to do."""
    with pytest.raises(StoreError) as caught:
        Connection(open_client("redis://127.0.0.1:1/0")).run(Batch([("TIME",)]))
    told = "".join(traceback.format_exception(caught.value))

    assert told.count("Traceback") == 1
    assert "Check that the server runs and OM_REDIS_URL points at it" in told


def bytes_of(reply):
    return reply


@pytest.mark.parametrize("theirs", [False, True], ids=["ours", "one that tries again"])
def test_a_write_without_replicas_is_told_apart_from_one_that_was_refused(connect, theirs):
    connection = connect(theirs)
    asked(connection, [("SET", "{h}:text", "1")])
    waiting(connection.run(Verb("batch", ["{h}:text"], [2, "GET", "{h}:text"], bytes_of)))

    with pytest.raises(NotReplicatedError, match="0 had it after 10 ms") as waited:
        waiting(
            connection.run(Verb("batch", ["{h}:text"], [2, "GET", "{h}:text"], bytes_of, Replicas(1, 10, "{h}:mark")))
        )
    with pytest.raises(StoreError) as refused:
        waiting(
            connection.run(Verb("batch", ["{h}:text"], [2, "HGETALL", "{h}:text"], bytes_of, Replicas(1, 10, "{h}:m")))
        )

    assert waited.value.stored is None
    assert (type(refused.value), refused.value.stored) == (StoreError, False)

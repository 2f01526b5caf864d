"""A server that is full, a replica, gone, or silent: whoever calls learns whether the write is kept, and what to do next."""

import asyncio

import pytest
import redis
from driven import Driven, await_
from ports import reserve_port
from servers import BINARIES, Proxy, Server
from world import World

from om_api import Message, StoreError, load_settings
from om_api.store.driver.connection import Connection
from om_api.store.driver.step_driver import Endpoint

WORKS = "works"
KINDS = ("full", "replica", "gone", "silent")


def said(name="m-1", resource="harold"):
    return Message(role="user", content="hello", id=name, thread_id="t-1", resource_id=resource, tokens=100)


CALLS = {"add_message": lambda om: om.add_message(said()),
    "add_messages": lambda om: om.add_messages([said(), said(resource="albert")]),
    "get_context": lambda om: om.get_context("t-1", "harold"), "stats": lambda om: om.stats("harold"),
    "force_observe": lambda om: om.force_observe("t-1", "harold"),
    "force_reflect": lambda om: om.force_reflect("harold"), "pause": lambda om: om.pause("harold"),
    "resume": lambda om: om.resume("harold"), "clear a thread": lambda om: om.clear("harold", "t-1"),
    "clear": lambda om: om.clear("harold")}  # fmt: skip
#                     full   replica gone   silent
TABLE = {"add_message": (False, False, False, None), "add_messages": (False, False, False, None),
    "get_context": (WORKS, WORKS, False, False), "stats": (WORKS, WORKS, False, False),
    "force_observe": (False, False, False, False), "force_reflect": (False, False, False, False),
    "pause": (False, False, False, None), "resume": (WORKS, False, False, None),
    "clear a thread": (WORKS, False, False, False), "clear": (WORKS, False, False, False)}  # fmt: skip
NEXT = ("give it more, or clear idle memories", "point OM_REDIS_URL at the primary", "same ids is safe")


_FACES = ["embedded", "asyncio"]
if "redis" in BINARIES:
    _FACES.append(pytest.param("redis", marks=pytest.mark.nightly))


@pytest.fixture(params=_FACES)
def server(request, tmp_path, monkeypatch):
    """The embedded server for the blocking client, and for the asyncio one; a redis-server where it is installed."""
    if request.param == "asyncio":
        monkeypatch.setattr(World, "face", Driven)
    with Server(tmp_path, binary=BINARIES.get(request.param, BINARIES["embedded"])) as own:
        yield own
    Driven.close_all()


@pytest.fixture
def om(server):
    """A client that gives up soon, of a memory with observations, a chunk and raw messages in it."""
    with server.client() as plain:
        world = World(plain, "cortex:om")
        world.say(*[f"message {n}" for n in range(12)])
        world.settle()
        world.say("one more")
        assert world.om.observations("harold")
    with client_of(server.url) as memory:
        memory.get_context("t-1", "harold")
        yield memory


def client_of(url, timeout=0.3):
    return World.face(load_settings(environ={"OM_REDIS_URL": url, "OM_TOKENIZER": "estimate"}), timeout=timeout)


def strike(server, kind):
    with server.client() as plain:
        if kind == "full":
            plain.config_set("maxmemory", 1)
        elif kind == "replica":
            plain.replicaof("127.0.0.1", reserve_port())
        elif kind == "gone":
            server.kill()
            await_(asyncio.sleep(0.1))  # until its loop has read the end of a connection, a client may write to it
        else:
            server.pause()


def heal(server, kind):
    if kind == "silent":
        server.go_on()
    with server.client() as plain:
        if kind == "full":
            plain.config_set("maxmemory", 0)
        elif kind == "replica":
            plain.replicaof("NO", "ONE")


@pytest.mark.parametrize("kind", [*KINDS[:3], pytest.param("silent", marks=pytest.mark.nightly)])
def test_every_call_says_whether_it_is_kept_and_what_to_do(server, om, kind):
    strike(server, kind)
    found = {call: _stored(ask, om) for call, ask in CALLS.items()}
    assert found == {call: row[KINDS.index(kind)] for call, row in TABLE.items()}
    if kind != "gone":
        heal(server, kind)
        om.add_messages([said(), said(resource="albert")])  # what is repeated is there once
        for resource in ("harold", "albert"):
            assert [message.id for message in om.get_context("t-1", resource).messages].count("m-1") == 1


def _stored(ask, om):
    try:
        ask(om)
    except StoreError as error:
        assert str(error).rstrip(".").endswith(NEXT)  # noqa: PT017  what it says is the same for all
        return error.stored
    return WORKS


@pytest.fixture
def proxy(server):
    between = Proxy(server)
    yield between
    between.close()


def test_a_reply_that_is_lost_on_a_connection_is_asked_for_again(server, proxy):
    with client_of(proxy.url) as om:
        om.add_message(said("before"))
        proxy.lose(b"EVALSHA")
        assert om.add_message(said()).ids == ("m-1",)
        assert [message.id for message in om.get_context("t-1", "harold").messages] == ["before", "m-1"]


def test_a_reply_that_is_lost_before_the_server_is_gone_leaves_open_what_was_done(server, proxy):
    """Breaks when the client's second try, which was never sent, answers for the first: "not kept", and it is."""
    with client_of(proxy.url) as om:
        om.add_message(said("before"))
        proxy.lose(b"EVALSHA", refuse=True)
        with pytest.raises(StoreError) as lost:
            om.add_message(said())
        assert lost.value.stored is None
        assert "same ids" in str(lost.value)
        proxy.listen()
        assert om.add_message(said()).duplicates == ("m-1",)
        assert [message.id for message in om.get_context("t-1", "harold").messages] == ["before", "m-1"]
        proxy.lose(b"EVALSHA", refuse=True)
        with pytest.raises(StoreError) as lost:
            om.clear("harold")
        assert lost.value.stored is None
        proxy.listen()
        assert om.clear("harold").outcome == "cleared"
        assert om.get_context("t-1", "harold").messages == []


def test_a_refusal_after_a_lost_reply_leaves_it_open_too(server, proxy, monkeypatch):
    """Breaks when a server that is demoted between two tries speaks for the first of them."""
    with client_of(proxy.url) as om, server.client() as plain:
        om.add_message(said("before"))
        proxy.lose(b"EVALSHA")
        with monkeypatch.context() as patch, pytest.raises(StoreError) as lost:
            patch.setattr("time.sleep", lambda _: plain.replicaof("127.0.0.1", 1))
            patch.setattr("asyncio.sleep", lambda _: asyncio.to_thread(plain.replicaof, "127.0.0.1", 1))
            om.add_message(said())
        assert lost.value.stored is None
        assert "read-only replica" in str(lost.value)
        assert "The first try may have been kept" in str(lost.value)


def test_a_batch_of_which_a_part_is_kept_says_so(server, proxy):
    """Breaks when the second resource's refusal is passed on as it is: "not kept", and the first one's message is."""
    with client_of(proxy.url) as om:
        om.add_message(said("before"))
        proxy.lose(b"EVALSHA", nth=2, refuse=True)
        with pytest.raises(StoreError) as lost:
            om.add_messages([said(), said(resource="albert"), said(resource="bea")])
        assert lost.value.stored is None
        assert "Of 3 messages the first 1 are kept" in str(lost.value)
        proxy.listen()
        again = om.add_messages([said(), said(resource="albert"), said(resource="bea")])
        assert (again.added, again.duplicates) == (1, ("m-1", "m-1"))


@pytest.mark.parametrize(("word", "nth", "stored"), [(b"HSET", 1, None), (b"ZADD", 1, True), (b"HMGET", 1, True)])
def test_a_request_that_stands_says_so(server, proxy, word, nth, stored):
    """Breaks when what comes after the request speaks for it: "not kept", and a worker answers it all the same."""
    with client_of(proxy.url) as om:
        om.add_message(said())
        om.stats("harold")
        proxy.lose(word, nth=nth, refuse=True)
        with pytest.raises(StoreError) as lost:
            om.force_observe("t-1", "harold")
        assert lost.value.stored is stored
        proxy.listen()
        assert om.record("harold") is not None
        with server.client() as plain:
            assert plain.hexists("cortex:om:{harold}:record", "force:t-1")


class Full(Endpoint):
    """One that answers every read and refuses every write."""

    def ask(self, step):
        if getattr(step, "writes", True) and not hasattr(step, "seconds"):
            raise redis.exceptions.OutOfMemoryError("command not allowed when used memory > 'maxmemory'.")
        return super().ask(step)


def test_a_context_is_served_though_its_activation_and_its_urgent_mark_are_refused(client, world):
    world.say(*(f"m{n}" for n in range(8)))
    world.settle()
    writable = world.om._connection
    full = Connection(client)
    full._endpoint = Full(**vars(full._endpoint))
    world.om._connection = full
    assert world.context(max_tokens=1).omitted  # which marks it as urgent
    world.om._connection = writable
    world.say("m8", "m9", "m10", tokens=90)  # the window is full, four chunks are ready
    world.om._connection = full
    assert len(world.context().messages) == 11

"""How a connection is opened, runs steps, scans and reads."""

import asyncio
import contextlib

import pytest
from driven import await_
from ports import reserve_port

from om_api import SettingsError
from om_api.domain.errors import StoreError
from om_api.store.driver.async_connection import AsyncConnection, open_async_client
from om_api.store.driver.connection import Connection, open_client
from om_api.store.driver.locks import Lease
from om_api.store.driver.replies import as_int, scored
from om_api.store.driver.scanning import BEGINNING, primaries, scan
from om_api.store.driver.steps import Batch, Node
from om_api.store.driver.tolerant_read import of_each, of_many


async def _given_up(url):
    """A call that its caller gives up while the server is thinking, and what the same client is answered afterwards."""
    connection = AsyncConnection(open_async_client(url))
    slow = asyncio.create_task(connection.run(Batch([("BLPOP", "nothing-comes", 1)])))
    await asyncio.sleep(0.1)
    slow.cancel()
    with contextlib.suppress(asyncio.CancelledError):
        await slow
    answers = [await connection.run(Batch([("ECHO", str(n))])) for n in range(5)]
    await connection.close()
    return answers


def test_a_call_that_is_given_up_leaves_no_reply_behind_for_the_next_one(server_url):
    """Breaks when the connection goes back to the pool as it is: every later call reads its predecessor's reply."""
    assert await_(_given_up(server_url)) == [[str(n).encode()] for n in range(5)]


def test_who_is_cancelled_ends_though_its_library_forgets_that(server_url):
    """Breaks when a reply that comes with the cancellation is taken for the answer, as `asyncio.wait_for` of Python 3.11 does."""

    async def cancelled():
        connection = AsyncConnection(open_async_client(server_url))
        pool, begun = connection.client.connection_pool, asyncio.Event()
        take = pool.get_connection

        async def forgetful(*given, **options):
            begun.set()
            with contextlib.suppress(asyncio.CancelledError):
                await asyncio.sleep(60)
            return await take(*given, **options)

        pool.get_connection = forgetful
        task = asyncio.create_task(connection.run(Batch([("ECHO", "x")])))
        await begun.wait()
        task.cancel()
        try:
            return await task
        except asyncio.CancelledError:
            return "cancelled"
        finally:
            await connection.close()

    assert await_(cancelled()) == "cancelled"


def test_a_url_that_names_no_server_is_refused_without_any_part_of_a_password():
    """Breaks when the parser's own words are shown: it takes what stands before the sign for a port, and quotes it."""
    urls = ["http://127.0.0.1", "redis+sentinel://127.0.0.1:1", "redis://h:1/0?health=x"]
    urls += [f"redis://:s3cret{sign}more@127.0.0.1:6379/0" for sign in "/?#"]
    urls += [f"redis+sentinel://:s3cret{sign}more@127.0.0.1:26379/mymaster/0" for sign in "/?#"]
    for open_ in (open_client, open_async_client):
        for url in urls:
            with pytest.raises(SettingsError, match=r"redis|URL") as refused:
                open_(url)
            assert "s3cret" not in str(refused.value), url


def filled(client, prefix):
    names = {f"{prefix}:{{a{n}}}:x".encode() for n in range(60)}
    for name in names:
        client.set(name, 1, ex=60)
    return names


def walked(run, nodes, prefix, place=BEGINNING):
    found, places = set(), []
    while True:
        names, place = run(scan(nodes, place, "MATCH", f"{prefix}:*", "COUNT", 10))
        found.update(names)
        places.append(place)
        if place == BEGINNING:
            return found, places


@pytest.mark.nightly
def test_a_node_that_has_gone_ends_its_part_and_the_next_one_is_walked_from_its_beginning(cluster_client, prefix):
    """Breaks where a cursor of one node is told to another, which skips what comes before it."""
    filled(cluster_client, prefix)
    run = Connection(cluster_client).run
    nodes = run(primaries())
    last = nodes[-1].address
    whole, _ = walked(run, nodes, prefix, f"0 {last}")
    gone, _ = walked(run, [Node(last)], prefix, "12345 127.0.0.1:0")
    beyond, _ = walked(run, [Node(last)], prefix, "12345 zzz:1")

    assert whole == gone == beyond != set()


def test_a_store_that_is_away_is_asked_once(prefix):
    asked = []

    def read(names):
        asked.append(names)
        raise StoreError("the store did not answer")
        yield

    with pytest.raises(StoreError):
        next(of_each(read, ["harold", "ada"]))
    assert asked == [["harold", "ada"]]


def test_one_that_holds_what_is_not_ours_is_left_out_and_every_other_one_is_read(store):
    names = [f"{store.keys.prefix}:lock:{n}" for n in range(600)]
    for n, name in enumerate(names):
        store.client.set(name, n, ex=60)
    store.client.delete(names[300])
    store.client.hset(names[300], "a", 1)
    store.client.expire(names[300], 60)

    assert store.run(of_many(read_number, names)) == {name: n for n, name in enumerate(names) if n != 300}


def read_number(name):
    return as_int("GET", name)


def lease(store):
    return Lease(Connection(store.client), f"{store.keys.prefix}:lock:x", 5)


def test_of_two_who_try_one_has_it_and_may_renew_it_until_it_is_let_go(store):
    first, second = lease(store), lease(store)

    assert (first.acquire(), second.acquire()) == (True, False)
    store.client.pexpire(first.name, 1_000)
    assert first.renew()
    assert 4_000 < store.client.pttl(first.name) <= 5_000
    assert first.release()
    assert second.acquire()


def test_who_lost_a_lease_neither_renews_nor_ends_the_next_ones(store):
    """Time 0: a lease runs out. Time 1: another one takes it. Time 2: the first comes back."""
    late, following = lease(store), lease(store)
    late.acquire()
    store.client.delete(late.name)
    following.acquire()
    store.client.pexpire(late.name, 1_000)

    assert (late.renew(), late.release()) == (False, False)
    assert 0 < store.client.pttl(late.name) <= 1_000
    assert following.release()


def test_where_the_store_is_away_nobody_has_a_lease():
    held = Lease(Connection(open_client(f"redis://127.0.0.1:{reserve_port()}/0", 0.2)), "x", 5)

    with pytest.raises(StoreError, match="OM_REDIS_URL"):
        held.acquire()
    assert (held.renew(), held.release()) == (False, False)


def test_members_with_scores_are_read_in_pairs_and_in_a_row():
    """A client that speaks RESP3 gets pairs, one that speaks RESP2 a row."""
    for reply in ([[b"a", 1.5], [b"b", b"2"]], [b"a", b"1.5", b"b", b"2"]):
        assert scored(reply) == [(b"a", 1.5), (b"b", 2.0)], reply

"""Calls of one event loop: none waits for another, and one that is given up leaves nothing behind."""

import asyncio
import contextlib

from driven import await_

from om_api.store.driver.async_connection import AsyncConnection, open_async_client
from om_api.store.driver.steps import Batch


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

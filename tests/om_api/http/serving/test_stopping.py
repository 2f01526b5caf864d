"""What only waits ends when a process is told to stop; what works is left alone."""

from __future__ import annotations

import asyncio

import pytest

from om_api.http.serving.stopping import Shutdown


def _run(scene):
    return asyncio.run(scene(Shutdown()))


def test_a_wait_ends_when_it_is_told_to():
    async def scene(stopping):
        asyncio.get_running_loop().call_soon(stopping.tell)
        async with stopping.ends():
            await asyncio.sleep(3600)

    with pytest.raises(TimeoutError):
        _run(scene)


def test_a_wait_that_begins_afterwards_ends_at_once():
    async def scene(stopping):
        stopping.tell()
        async with stopping.ends():
            await asyncio.sleep(0.5)

    with pytest.raises(TimeoutError):
        _run(scene)


def test_a_wait_goes_on_while_nobody_is_told_to_stop():
    async def scene(stopping):
        async with stopping.ends():
            await asyncio.sleep(0.01)
        return "went on"

    assert _run(scene) == "went on"


def test_what_ended_before_is_told_nothing():
    async def scene(stopping):
        async with stopping.ends():
            pass
        stopping.tell()
        await asyncio.sleep(0)
        return "went on"

    assert _run(scene) == "went on"

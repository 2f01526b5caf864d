"""What pages hear while they are open: each event once, from one reader of the store, and nothing that piles up."""

import asyncio
from types import SimpleNamespace

import pytest
from fastapi import HTTPException

from om_api.domain.errors import StoreError
from om_api.domain.events import Event, Told
from om_api.web.pages import live, page_turns
from om_api.web.pages.live import Listener, Live, stream


class Memory:
    """Tells what it was told to, one reply after the other, then waits."""

    def __init__(self, *replies):
        self._replies, self.asked = list(replies), 0

    async def events(self, place, count, wait):
        self.asked += 1
        if not self._replies:
            await asyncio.sleep(0.01)
            return Told([], "9-9")
        reply = self._replies.pop(0)
        if isinstance(reply, Exception):
            raise reply
        return Told([Event(kind=kind, id=f"{kind}-0") for kind in reply], "1-1")


@pytest.fixture(autouse=True)
def _quick(monkeypatch):
    monkeypatch.setattr(live, "LOOK_S", 0.02)
    monkeypatch.setattr(page_turns, "LOOK_S", 0.02)
    monkeypatch.setattr(live, "BEAT_S", 0.05)


async def _heard(listener, wanted):
    found = []
    async with asyncio.timeout(20):
        while len(found) < wanted:
            found += await listener.next(0.05)
    return [each and each.kind for each in found]


def test_every_page_hears_what_happens_after_it_was_opened_from_one_reader():
    async def scene():
        memory = Memory(["before"], ["sealed"], ["activated"])
        one = Live(memory)
        with one.listening() as here, one.listening() as there:
            found = await _heard(here, 2), await _heard(there, 2)
        await one.close()
        return found

    assert asyncio.run(scene()) == (["sealed", "activated"], ["sealed", "activated"])


def test_a_store_that_goes_away_and_comes_back_is_told_once_each_and_nothing_is_missed():
    async def scene():
        away = [StoreError("away")] * 3
        one = Live(Memory([], *away, ["sealed"]))
        with one.listening() as here:
            found = await _heard(here, 3)
        await one.close()
        return found, one.away

    assert asyncio.run(scene()) == ([None, None, "sealed"], False)


def test_nobody_reads_while_no_page_is_open():
    async def scene():
        memory = Memory()
        one = Live(memory)
        with one.listening() as here:
            await here.next(0.05)
        await asyncio.sleep(0.1)
        before = memory.asked
        await asyncio.sleep(0.1)
        return memory.asked - before

    assert asyncio.run(scene()) == 0


def test_a_page_that_takes_nothing_loses_the_oldest_and_keeps_a_bounded_number():
    async def scene():
        listener = Listener()
        for n in range(10_000):
            listener.tell(n)
        return await listener.next(0)

    found = asyncio.run(scene())
    assert len(found) == live._WAITING
    assert found[-1] == 9_999


def test_too_many_pages_are_refused_and_told_what_to_do(monkeypatch):
    monkeypatch.setattr(live, "MOST_PAGES", 1)

    async def scene():
        one = Live(Memory())
        with one.listening(), pytest.raises(HTTPException, match="reload") as refused, one.listening():
            pass
        await one.close()
        return refused.value.status_code

    assert asyncio.run(scene()) == 503


def _written(events):
    return b"|".join(event.kind.encode() for event in events), bool(events)


def test_pages_are_told_to_look_again_one_behind_the_other_however_many_listen(monkeypatch):
    monkeypatch.setattr(page_turns, "LOOKS", 20)
    monkeypatch.setattr(page_turns, "_AT_REST", 3)

    async def missed():
        return True

    async def scene():
        one, streams = Live(Memory([], *[["sealed"]] * 30)), SimpleNamespace(ending=False)

        async def page():
            lines = stream(one, streams, lambda: asyncio.sleep(0), _written, missed)
            return await anext(asyncio.get_running_loop().time() async for line in lines if line == live.CHANGE)

        async with asyncio.timeout(20):
            found = await asyncio.gather(*(page() for _ in range(10)))
        await one.close()
        return sorted(found)

    told = asyncio.run(scene())
    assert told[-1] - told[0] >= (10 - 3 - 2) / 20, told


@pytest.mark.parametrize("looks", [True, False])
def test_a_page_looks_again_after_a_while_though_nothing_happened_and_what_shows_events_does_not(monkeypatch, looks):
    monkeypatch.setattr(page_turns, "ANYHOW_S", 0.05)

    async def missed():
        return False

    async def scene():
        one, streams = Live(Memory([])), SimpleNamespace(ending=False)
        lines = stream(one, streams, lambda: asyncio.sleep(0), _written, missed if looks else None)
        first = [await anext(lines) for _ in range(3)]
        await lines.aclose()
        await one.close()
        return first

    assert (live.CHANGE in asyncio.run(scene())) is looks


def test_one_key_leaves_room_for_others(monkeypatch):
    monkeypatch.setattr(live, "MOST_OF_A_KEY", 2)

    async def scene():
        one = Live(Memory())
        with one.listening("a"), one.listening("a"), one.listening("b"):
            one.check_room("b")
            with pytest.raises(HTTPException, match="close some") as refused:
                one.check_room("a")
        one.check_room("a")
        await one.close()
        return refused.value.status_code

    assert asyncio.run(scene()) == 429


@pytest.mark.parametrize("end", ["the process is told to stop", "its key ends"])
def test_a_stream_ends(end):
    async def scene():
        one, streams = Live(Memory([], ["sealed"])), SimpleNamespace(ending=False)

        async def may():
            if end == "its key ends":
                raise HTTPException(401)
            streams.ending = True

        said = [line async for line in stream(one, streams, may, _written)]
        await one.close()
        return said

    said = asyncio.run(scene())
    assert said[:2] == [b": listening\n\n", b"sealed"]

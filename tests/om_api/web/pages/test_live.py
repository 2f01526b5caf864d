"""What pages hear while they are open: each event once, from one reader of the store, and nothing that piles up."""

import asyncio
from types import SimpleNamespace

import pytest
from fastapi import HTTPException

from om_api.domain.errors import StoreError
from om_api.domain.events import Event, Told
from om_api.web.pages import live, page_turns
from om_api.web.pages.live import Live, stream


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


def test_too_many_pages_are_refused_and_one_key_leaves_room_for_others(monkeypatch):
    monkeypatch.setattr(live, "MOST_OF_A_KEY", 2)

    async def scene():
        one = Live(Memory())
        with one.listening("a"), one.listening("a"), one.listening("b"):
            one.check_room("b")
            with pytest.raises(HTTPException, match="close some") as refused:
                one.check_room("a")
            monkeypatch.setattr(live, "MOST_PAGES", 3)
            with pytest.raises(HTTPException, match="reload") as full, one.listening("c"):
                pass
        one.check_room("a")
        await one.close()
        return full.value.status_code, refused.value.status_code

    assert asyncio.run(scene()) == (503, 429)


def _written(events):
    return b"|".join(event.kind.encode() for event in events), bool(events)


def test_a_page_looks_again_after_a_while_though_nothing_happened_and_what_shows_events_does_not(monkeypatch):
    monkeypatch.setattr(page_turns, "ANYHOW_S", 0.05)

    async def missed():
        return False

    async def scene(looks):
        one, streams = Live(Memory([])), SimpleNamespace(ending=False)
        lines = stream(one, streams, lambda: asyncio.sleep(0), _written, missed if looks else None)
        first = [await anext(lines) for _ in range(3)]
        await lines.aclose()
        await one.close()
        return first

    for looks in (True, False):
        assert (live.CHANGE in asyncio.run(scene(looks))) is looks


def test_a_stream_ends_with_the_process_or_its_key():
    async def scene(end):
        one, streams = Live(Memory([], ["sealed"])), SimpleNamespace(ending=False)

        async def may():
            if end == "its key ends":
                raise HTTPException(401)
            streams.ending = True

        said = [line async for line in stream(one, streams, may, _written)]
        await one.close()
        return said

    for end in ("the process is told to stop", "its key ends"):
        assert asyncio.run(scene(end))[:2] == [b": listening\n\n", b"sealed"], end

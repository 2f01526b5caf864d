"""Who asks for figures at once is given one answer, and none of them waits for another."""

from __future__ import annotations

import asyncio

import pytest
from world import SMALL

from om_api import load_settings
from om_api.domain.errors import StoreError
from om_api.metrics import scraper


@pytest.fixture
def settings(server_url, prefix):
    """Which store is looked at."""
    return load_settings(None, {**SMALL, "OM_PREFIX": prefix, "OM_REDIS_URL": server_url})


def test_who_asks_at_once_is_given_one_answer_and_who_comes_later_another(settings, server_client, monkeypatch):
    looks, read = [], scraper.read
    monkeypatch.setattr(scraper, "read", lambda *given: looks.append(1) or read(*given))

    async def several():
        asked = scraper.Scraper(settings)
        found = await asyncio.gather(*(asked.scrape() for _ in range(5)))
        monkeypatch.setattr(scraper, "FRESH_S", 60.0)
        found.append(await asked.scrape())
        before = len(looks)
        monkeypatch.setattr(scraper, "FRESH_S", 0.0)
        await asked.scrape()
        await asked.close()
        return set(found), before, len(looks)

    found, before, after = asyncio.run(several())
    assert (len(found), before, after) == (1, 1, 2)


def test_who_gives_up_does_not_take_the_answer_from_the_others(settings, server_client):
    async def one_leaves():
        asked = scraper.Scraper(settings)
        first, second = (asyncio.create_task(asked.scrape()) for _ in range(2))
        await asyncio.sleep(0)
        first.cancel()
        text = await second
        await asked.close()
        return text

    assert b"cortex_om_workers" in asyncio.run(one_leaves())


def test_several_who_ask_in_vain_are_told_so_once_each():
    told = load_settings(None, {"OM_REDIS_URL": "redis://127.0.0.1:1/0"})

    async def several():
        asked = scraper.Scraper(told, timeout=0.2)
        found = await asyncio.gather(*(asked.scrape() for _ in range(3)), return_exceptions=True)
        await asked.close()
        return found

    assert [type(each) for each in asyncio.run(several())] == [StoreError] * 3

"""Who asks for figures at once is given one answer, and none of them waits for another.

Every series of the list is in it, whether it has a value or not.
"""

import asyncio

import pytest
from prometheus_client.parser import text_string_to_metric_families
from world import SMALL

from om_api import load_settings
from om_api.domain.errors import StoreError
from om_api.metrics import scraper
from om_api.metrics.scraper import page
from om_api.metrics.series import SERIES, Sample


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


@pytest.mark.parametrize(
    ("broker", "told"),
    [("amqp://om:s3cret@127.0.0.1:1//", b"cortex_om_broker_up 0.0\n"), ("sqs://", b"cortex_om_broker_up gauge\n#")],
)
def test_a_rabbitmq_that_is_away_is_told_and_of_other_brokers_nothing(
    settings, prefix, server_url, server_client, broker, told
):
    named = load_settings(None, {**SMALL, "OM_PREFIX": prefix, "OM_REDIS_URL": server_url, "OM_BROKER_URL": broker})

    async def once():
        asked = scraper.Scraper(named)
        found = await asked.scrape()
        await asked.close()
        return found

    assert told in asyncio.run(once())


def test_a_series_without_a_value_says_what_it_would_be():
    families = {family.name: family for family in text_string_to_metric_families(page([]).decode())}

    assert len(families) == len(SERIES)
    assert {family.documentation for family in families.values()} == {series.help for series in SERIES}
    assert [family.samples for family in families.values()] == [[]] * len(SERIES)


def test_samples_come_in_the_order_of_the_list_however_they_are_given():
    names = ["cortex_om_resources", "cortex_om_workers"]
    text = page([Sample(name, (), 1) for name in names]).decode()
    values = [line for line in text.splitlines() if not line.startswith("#")]

    assert values == ["cortex_om_workers 1.0", "cortex_om_resources 1.0"]

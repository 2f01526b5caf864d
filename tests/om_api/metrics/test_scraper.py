"""Who asks for figures at once is given one answer, and none of them waits for another.

Every series of the list is in it, whether it has a value or not.
"""

import asyncio
import re

import pytest
from prometheus_client.parser import text_string_to_metric_families
from scraped import labels_of, scraped
from world import SMALL

from om_api import load_settings
from om_api.metrics import scraper
from om_api.metrics.scraper import page
from om_api.metrics.series import SERIES, Histogram, Sample


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


def parsed(text):
    return {family.name: family for family in text_string_to_metric_families(text.decode())}


def test_a_sample_of_every_series_is_read_back_with_its_labels_and_type():
    names = [name for series in SERIES for name in scraped(series)]
    assert len(names) == len(set(names))
    for series in SERIES:
        assert re.fullmatch(r"cortex_om_[a-z_]+[a-z]", series.name), series.name
        labels = tuple(f"a {label}\n\"'\\" for label in series.labels)
        value = Histogram((("1.0", 1), ("+Inf", 2)), 3.5) if series.kind == "histogram" else 7
        name = series.name.removesuffix("_total" * (series.kind == "counter"))
        family = parsed(page([Sample(series.name, labels, value)]))[name]

        assert (family.type, family.documentation) == (series.kind, series.help)
        assert {sample.name for sample in family.samples} == set(scraped(series))
        for sample in family.samples:
            assert set(sample.labels) == labels_of(sample.name)
            assert tuple(sample.labels[label] for label in series.labels) == labels
        if series.kind == "histogram":
            found = {sample.name: sample.value for sample in family.samples}
            assert (found[f"{name}_count"], found[f"{name}_sum"]) == (2, 3.5)

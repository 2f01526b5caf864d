"""Answering Prometheus in the text that it reads: one look at store and broker for everybody who asks within a second."""

import asyncio
import time
from collections.abc import Iterable, Iterator
from functools import partial
from itertools import groupby
from operator import attrgetter

from prometheus_client.core import CounterMetricFamily, GaugeMetricFamily, HistogramMetricFamily, Metric
from prometheus_client.exposition import CONTENT_TYPE_PLAIN_0_0_4, generate_latest
from prometheus_client.registry import Collector

from om_api.broker import rabbitmq
from om_api.domain.errors import SettingsError, StoreError
from om_api.metrics.counted import Others, of_counters
from om_api.metrics.gauges import Broker, Measurements, of_gauges, read
from om_api.metrics.series import SERIES, Histogram, Sample, Series
from om_api.settings import Settings
from om_api.settings.sections.urls import is_redis_url
from om_api.store.driver.async_connection import AsyncConnection, open_async_client
from om_api.store.fleet import health
from om_api.store.memory.keys import keys_of

MEDIA_TYPE = CONTENT_TYPE_PLAIN_0_0_4
FRESH_S = 1.0


class Scraper:
    """What /metrics shows of one store and its broker. Safe for the tasks of one event loop.

    Several who ask at once, or within a second, are given one look's answer. Raises StoreError when the store is away; of a
    broker that is away only that it is, and of one that is neither Redis nor RabbitMQ nothing.
    """

    def __init__(self, settings: Settings, *, timeout: float = 5.0) -> None:
        self._settings = settings
        self._keys = keys_of(settings)
        self._store = AsyncConnection(open_async_client(settings.redis_url, timeout))
        url = _broker_url(settings)
        self._broker = AsyncConnection(open_async_client(url, timeout)) if is_redis_url(url) else None
        self._rabbitmq = (
            partial(rabbitmq.waiting, url, health.QUEUES, timeout) if rabbitmq.is_rabbitmq_url(url) else None
        )
        self._others, self._one = Others(), asyncio.Lock()
        self._look: asyncio.Task[bytes] | None = None
        self._began = 0.0

    async def close(self) -> None:
        """Give the connections back."""
        for connection in filter(None, (self._store, self._broker)):
            await connection.close()

    async def scrape(self) -> bytes:
        """The text of every series."""
        look = self._look
        if look is None or (look.done() and time.monotonic() - self._began > FRESH_S):
            look = self._look = asyncio.create_task(self._scrape())
            self._began = time.monotonic()
        return await asyncio.shield(look)  # who gives up does not take it from the others

    async def samples(self) -> list[Sample]:
        """A value of each series and its labels, by a look of its own."""
        async with self._one:
            found, broker = await asyncio.gather(self._store.run(read(self._settings, self._keys)), self._ask_broker())
            return await asyncio.to_thread(self._samples, found._replace(broker=broker))

    async def _scrape(self) -> bytes:
        return await asyncio.to_thread(page, await self.samples())

    async def _ask_broker(self) -> Broker | None:
        try:
            if self._rabbitmq:
                return Broker(await asyncio.to_thread(self._rabbitmq))
            return Broker(await self._broker.run(health.queues())) if self._broker else None
        except StoreError:
            return Broker(None)

    def _samples(self, found: Measurements) -> list[Sample]:
        others = self._others.of(found.own, found.every)
        return [*of_gauges(found, self._settings), *of_counters(found.own, others, self._settings)]


def _broker_url(settings: Settings) -> str:
    """Where tasks wait; "" where nobody said: a process that only serves contexts need not know."""
    try:
        return settings.broker_url
    except SettingsError:
        return ""


class _Samples(Collector):
    """Samples that are there already, in the order of the list of series."""

    def __init__(self, samples: Iterable[Sample]) -> None:
        by_series = groupby(sorted(samples, key=attrgetter("series")), attrgetter("series"))
        self._found = {name: list(some) for name, some in by_series}

    def collect(self) -> Iterator[Metric]:
        """Every series, those without a value too."""
        return (_family(series, self._found.get(series.name, ())) for series in SERIES)


def page(samples: Iterable[Sample]) -> bytes:
    """The text of some samples; of two formats the one that every Prometheus reads."""
    return generate_latest(_Samples(samples))


def _family(series: Series, samples: Iterable[Sample]) -> Metric:
    histogram = HistogramMetricFamily(series.name, series.help, labels=series.labels)
    kind = CounterMetricFamily if series.kind == "counter" else GaugeMetricFamily
    plain = kind(series.name, series.help, labels=series.labels)
    for sample in samples:
        if isinstance(sample.value, Histogram):
            histogram.add_metric(sample.labels, sample.value.buckets, sample.value.seconds)
        else:
            plain.add_metric(sample.labels, sample.value)
    return histogram if series.kind == "histogram" else plain

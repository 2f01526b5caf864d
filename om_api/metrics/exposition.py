"""Samples in the text that Prometheus reads."""

from __future__ import annotations

from itertools import groupby
from operator import attrgetter
from typing import TYPE_CHECKING

from prometheus_client import CollectorRegistry
from prometheus_client.core import CounterMetricFamily, GaugeMetricFamily, HistogramMetricFamily
from prometheus_client.exposition import CONTENT_TYPE_PLAIN_0_0_4, generate_latest

from om_api.metrics.sample import Histogram
from om_api.metrics.series import SERIES

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from prometheus_client.core import Metric

    from om_api.metrics.sample import Sample
    from om_api.metrics.series import Series

MEDIA_TYPE = CONTENT_TYPE_PLAIN_0_0_4


class _Found:
    """A collector of samples that are there already, in the order of the list of series."""

    def __init__(self, samples: Iterable[Sample]) -> None:
        by_series = groupby(sorted(samples, key=attrgetter("series")), attrgetter("series"))
        self._found = {name: list(some) for name, some in by_series}

    def collect(self) -> Iterator[Metric]:
        """Every series, those without a value too."""
        for series in SERIES:
            yield _family(series, self._found.get(series.name, ()))


def page(samples: Iterable[Sample]) -> bytes:
    """The text of some samples; of two formats the one that every Prometheus reads."""
    registry = CollectorRegistry(auto_describe=False)
    registry.register(_Found(samples))
    return generate_latest(registry)


def _family(series: Series, samples: Iterable[Sample]) -> Metric:
    return _histogram(series, samples) if series.kind == "histogram" else _plain(series, samples)


def _plain(series: Series, samples: Iterable[Sample]) -> Metric:
    kind = CounterMetricFamily if series.kind == "counter" else GaugeMetricFamily
    family = kind(series.name, series.help, labels=series.labels)
    for sample in samples:
        if not isinstance(sample.value, Histogram):
            family.add_metric(sample.labels, sample.value)
    return family


def _histogram(series: Series, samples: Iterable[Sample]) -> Metric:
    family = HistogramMetricFamily(series.name, series.help, labels=series.labels)
    for sample in samples:
        if isinstance(sample.value, Histogram):
            family.add_metric(sample.labels, sample.value.buckets, sample.value.seconds)
    return family

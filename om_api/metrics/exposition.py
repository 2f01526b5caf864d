"""Samples in the text that Prometheus reads."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from itertools import groupby
from operator import attrgetter

from prometheus_client.core import CounterMetricFamily, GaugeMetricFamily, HistogramMetricFamily, Metric
from prometheus_client.exposition import CONTENT_TYPE_PLAIN_0_0_4, generate_latest
from prometheus_client.registry import Collector

from om_api.metrics.series import SERIES, Histogram, Sample, Series

MEDIA_TYPE = CONTENT_TYPE_PLAIN_0_0_4


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

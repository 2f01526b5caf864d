"""Figures over HTTP: what somebody else measured, as OpenTelemetry's data. Imported only where there is an endpoint for them."""

import time
from collections.abc import Iterable, Mapping, Sequence
from itertools import groupby
from operator import attrgetter
from typing import NamedTuple

from opentelemetry.exporter.otlp.proto.http.metric_exporter import OTLPMetricExporter
from opentelemetry.sdk.metrics.export import (
    AggregationTemporality,
    Gauge,
    Histogram,
    HistogramDataPoint,
    Metric,
    MetricExportResult,
    MetricsData,
    NumberDataPoint,
    ResourceMetrics,
    ScopeMetrics,
    Sum,
)
from opentelemetry.sdk.resources import Resource
from opentelemetry.sdk.util.instrumentation import InstrumentationScope

from om_api.domain.extras import installed
from om_api.telemetry.exporting import Once

_SINCE = 0  # when counting began: in the store, before anybody can know


class Distribution(NamedTuple):
    """How many were at most so long, by bound (the last is infinite), and the sum of all."""

    buckets: Sequence[tuple[str, int]]
    sum: float


class SeriesValue(NamedTuple):
    """A value of a series. One that `counts` only grows."""

    name: str
    help: str
    labels: Mapping[str, str]
    value: float | Distribution
    counts: bool


class Sender:
    """Sends figures; one that an endpoint does not take is lost, which fails nothing and is said once."""

    def __init__(self, endpoint: str, resource: Mapping[str, str]) -> None:
        self._exporter, self._once = OTLPMetricExporter(endpoint), Once(endpoint)
        self._resource = Resource.create({**resource})

    def send(self, figures: Iterable[SeriesValue]) -> bool:
        """Send them as they are now, those of a name together; whether they were taken."""
        data = data_of(figures, self._resource, time.time_ns())
        came = self._once.tried(lambda: self._exporter.export(data), lambda came: came is MetricExportResult.SUCCESS)
        return came is MetricExportResult.SUCCESS


def data_of(figures: Iterable[SeriesValue], resource: Resource, now: int) -> MetricsData:
    """Figures as the SDK's exporter takes them, at a time (Unix ns)."""
    named = groupby(sorted(figures, key=attrgetter("name")), attrgetter("name"))
    metrics = [_metric(list(some), now) for _, some in named]
    scope = ScopeMetrics(InstrumentationScope("cortex-om", installed()), metrics, "")
    return MetricsData([ResourceMetrics(resource, [scope], "")])


def _metric(figures: Sequence[SeriesValue], now: int) -> Metric:
    first = figures[0]
    durations = [(each.labels, each.value) for each in figures if isinstance(each.value, Distribution)]
    numbers = [
        NumberDataPoint({**each.labels}, _SINCE, now, each.value)
        for each in figures
        if not isinstance(each.value, Distribution)
    ]
    if durations:
        points = [_durations(labels, value, now) for labels, value in durations]
        return Metric(first.name, first.help, "s", Histogram(points, AggregationTemporality.CUMULATIVE))
    data = Sum(numbers, AggregationTemporality.CUMULATIVE, is_monotonic=True) if first.counts else Gauge(numbers)
    return Metric(first.name, first.help, "", data)


def _durations(labels: Mapping[str, str], value: Distribution, now: int) -> HistogramDataPoint:
    upto = [count for _, count in value.buckets]
    each = [count - before for count, before in zip(upto, [0, *upto], strict=False)]
    bounds = [float(bound) for bound, _ in value.buckets[:-1]]
    least = most = None  # nobody kept them
    return HistogramDataPoint({**labels}, _SINCE, now, upto[-1], value.sum, each, bounds, least, most)  # type: ignore[arg-type]

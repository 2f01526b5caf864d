"""What was measured elsewhere reaches a collector as it is: gauges, what only grows, and how long things took."""

import pytest
from structlog.testing import capture_logs
from traced import Collector

from om_api.telemetry.figures import Distribution, Sender, SeriesValue

_FIGURES = [
    SeriesValue("om_workers", "Workers.", {}, 2, counts=False),
    SeriesValue("om_made_total", "Made.", {"resource_id": "harold"}, 7, counts=True),
    SeriesValue("om_made_total", "Made.", {"resource_id": "(other)"}, 3, counts=True),
    SeriesValue("om_seconds", "Took.", {}, Distribution((("1", 2), ("5.0", 2), ("+Inf", 5)), 40.5), counts=False),
]


@pytest.fixture
def collector():
    with Collector() as made:
        yield made


def test_each_series_comes_with_its_kind_its_labels_and_its_values(collector):
    taken = Sender(f"{collector.url}/v1/metrics", {"service.name": "cortex-om-api"}).send(_FIGURES)
    made, took = collector.metrics["om_made_total"], collector.metrics["om_seconds"].histogram.data_points[0]
    by_resource = {point.attributes[0].value.string_value: point.as_int for point in made.sum.data_points}

    assert taken
    assert collector.metrics["om_workers"].gauge.data_points[0].as_int == 2
    assert (made.description, made.sum.is_monotonic, by_resource) == ("Made.", True, {"harold": 7, "(other)": 3})
    assert (list(took.bucket_counts), list(took.explicit_bounds), took.sum, took.count) == ([2, 0, 3], [1, 5], 40.5, 5)
    assert not took.HasField("max")


def test_what_is_not_taken_is_lost_and_said_once(collector):
    collector.says = 400
    with capture_logs() as lines:
        sender = Sender(f"{collector.url}/v1/metrics", {})
        came = [sender.send(_FIGURES) for _ in range(2)]

    assert came == [False, False]
    assert [line["event"] for line in lines] == ["telemetry_not_taken"]

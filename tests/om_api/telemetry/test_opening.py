"""Where traces go is said by the setting or by OpenTelemetry's variables; a program that traces itself keeps its own way."""

import threading

import pytest
from structlog.testing import capture_logs
from traced import Collector, attributes

from om_api import SettingsError, load_settings
from om_api.telemetry import exporting, opening, spans
from om_api.telemetry.exporting import Once
from om_api.telemetry.figures import Distribution, Sender, SeriesValue

_OURS = {"OM_TELEMETRY__ENDPOINT": "http://collector:4318/"}


@pytest.fixture(autouse=True)
def _nothing_said(monkeypatch):
    for name in ("OTEL_EXPORTER_OTLP_ENDPOINT", "OTEL_SDK_DISABLED", "OTEL_SERVICE_NAME"):
        monkeypatch.delenv(name, raising=False)


def test_where_they_go():
    ours, theirs = "http://collector:4318/v1/", "http://b:1/v1/"
    for environ, traces, metrics in [
        ({}, None, None),
        (_OURS, f"{ours}traces", f"{ours}metrics"),
        ({"OTEL_EXPORTER_OTLP_ENDPOINT": "http://b:1"}, f"{theirs}traces", f"{theirs}metrics"),
        ({"OTEL_EXPORTER_OTLP_TRACES_ENDPOINT": "http://b:1/x"}, "http://b:1/x", None),
        ({**_OURS, "OTEL_EXPORTER_OTLP_ENDPOINT": "http://b:1"}, f"{ours}traces", f"{ours}metrics"),
        ({**_OURS, "OM_TELEMETRY__TRACES": "false"}, None, f"{ours}metrics"),
        ({**_OURS, "OM_TELEMETRY__METRICS": "false"}, f"{ours}traces", None),
        ({**_OURS, "OTEL_SDK_DISABLED": "true"}, None, None),
    ]:
        settings = load_settings(None, environ)
        found = opening.endpoint(settings, "traces"), opening.endpoint(settings, "metrics")
        assert found == (traces, metrics), environ


def test_what_is_no_address_or_holds_a_password_is_refused_without_being_shown():
    for said in ("collector:4318", "ftp://collector", "http://user:sk-zebrafinch@collector:4318"):
        with pytest.raises(SettingsError, match="OM_TELEMETRY__ENDPOINT") as refused:
            load_settings(None, {"OM_TELEMETRY__ENDPOINT": said})
        assert "without a password" in str(refused.value)
        assert "zebrafinch" not in str(refused.value)


def test_spans_reach_a_collector_under_the_name_that_was_given_and_none_where_none_are_asked_for():
    for more, sent in (({}, [{"cortex_om.resource": "harold"}]), ({"OM_TELEMETRY__SAMPLE": "0"}, [])):
        with Collector() as collector:
            opening.begin(load_settings(None, {"OM_TELEMETRY__ENDPOINT": collector.url, **more}), "cortex-om-worker")
            with spans.span("om.push", resource="harold"):
                name = spans.traceparent()
            opening.end()
            assert [attributes(span) for span in collector.named("om.push")] == sent
            assert bool(name) == bool(sent)
            assert not sent or collector.resources[0]["service.name"] == "cortex-om-worker"


def test_an_exporter_that_fails_is_said_once_until_it_works_and_names_no_password():
    answers = iter([OSError("http://user:sk-zebrafinch@collector:4318 is away"), False, True, False])

    def send():
        answer = next(answers)
        if isinstance(answer, Exception):
            raise answer
        return answer

    with capture_logs() as lines:
        once = Once("http://user:sk-zebrafinch@collector:4318/v1/traces")
        came = [once.tried(send, bool) for _ in range(4)]

    assert came == [None, False, True, False]
    events = [line["event"] for line in lines]
    assert events == ["telemetry_not_taken", "telemetry_taken_again", "telemetry_not_taken"]
    assert (lines[0]["endpoint"], lines[0]["error"]) == ("collector:4318", "OSError")
    assert "zebrafinch" not in str(lines)


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


def test_a_collector_that_is_away_at_the_end_does_not_hold_up_the_exit(monkeypatch):
    answered = threading.Event()
    monkeypatch.setattr(exporting, "own_tracer", lambda *_: exporting.OwnTracer(None, answered.wait))
    opening.begin(load_settings(None, _OURS), "cortex-om-worker")
    ends = threading.Thread(target=opening.end, args=(0.1,))
    ends.start()
    ends.join(30)
    held = ends.is_alive()
    answered.set()
    assert not held

"""Where traces go is said by the setting or by OpenTelemetry's variables; a program that traces itself keeps its own way."""

import subprocess
import sys
import time

import pytest
from processes import inherited
from structlog.testing import capture_logs
from traced import Collector, attributes

from om_api import SettingsError, load_settings
from om_api.telemetry import opening, spans

_OURS = {"OM_TELEMETRY__ENDPOINT": "http://collector:4318/"}


@pytest.fixture(autouse=True)
def _nothing_said(monkeypatch):
    for name in ("OTEL_EXPORTER_OTLP_ENDPOINT", "OTEL_SDK_DISABLED", "OTEL_SERVICE_NAME"):
        monkeypatch.delenv(name, raising=False)


@pytest.mark.parametrize(
    ("environ", "traces", "metrics"),
    [
        ({}, None, None),
        (_OURS, "http://collector:4318/v1/traces", "http://collector:4318/v1/metrics"),
        ({"OTEL_EXPORTER_OTLP_ENDPOINT": "http://b:1"}, "http://b:1/v1/traces", "http://b:1/v1/metrics"),
        ({"OTEL_EXPORTER_OTLP_TRACES_ENDPOINT": "http://b:1/x"}, "http://b:1/x", None),
        (
            {**_OURS, "OTEL_EXPORTER_OTLP_ENDPOINT": "http://b:1"},
            "http://collector:4318/v1/traces",
            "http://collector:4318/v1/metrics",
        ),
        ({**_OURS, "OM_TELEMETRY__TRACES": "false"}, None, "http://collector:4318/v1/metrics"),
        ({**_OURS, "OM_TELEMETRY__METRICS": "false"}, "http://collector:4318/v1/traces", None),
        ({**_OURS, "OTEL_SDK_DISABLED": "true"}, None, None),
    ],
)
def test_where_they_go(environ, traces, metrics):
    settings = load_settings(None, environ)

    assert (opening.endpoint(settings, "traces"), opening.endpoint(settings, "metrics")) == (traces, metrics)


@pytest.mark.parametrize("said", ["collector:4318", "ftp://collector", "http://user:sk-zebrafinch@collector:4318"])
def test_what_is_no_address_or_holds_a_password_is_refused_without_being_shown(said):
    with pytest.raises(SettingsError, match="OM_TELEMETRY__ENDPOINT") as refused:
        load_settings(None, {"OM_TELEMETRY__ENDPOINT": said})

    assert "without a password" in str(refused.value)
    assert "zebrafinch" not in str(refused.value)


def test_spans_reach_a_collector_under_the_name_that_was_given():
    with Collector() as collector:
        opening.begin(load_settings(None, {"OM_TELEMETRY__ENDPOINT": collector.url}), "cortex-om-worker")
        with spans.span("om.push", resource="harold"):
            pass
        opening.end()

        assert [attributes(span) for span in collector.named("om.push")] == [{"cortex_om.resource": "harold"}]
        assert collector.resources[0]["service.name"] == "cortex-om-worker"
        assert collector.resources[0]["service.instance.id"]


def test_of_a_share_of_the_traces_the_others_are_not_sent_and_nothing_carries_their_names():
    with Collector() as collector:
        none = {"OM_TELEMETRY__ENDPOINT": collector.url, "OM_TELEMETRY__SAMPLE": "0"}
        opening.begin(load_settings(None, none), "cortex-om-worker")
        with spans.span("om.push"):
            name = spans.traceparent()
        opening.end()

        assert (name, collector.spans) == ("", [])


def test_a_collector_that_is_away_is_said_once_and_is_not_waited_for_at_the_end():
    away = load_settings(None, {"OM_TELEMETRY__ENDPOINT": "http://127.0.0.1:1"})
    with capture_logs() as lines:
        opening.begin(away, "cortex-om-worker")
        with spans.span("om.push"):
            pass
        began = time.monotonic()
        opening.end(0.5)
        took = time.monotonic() - began

    assert took < 2
    assert [line["event"] for line in lines if line["event"] != "telemetry_not_taken"] == []


_PROGRAM = """
from opentelemetry import trace
from opentelemetry.sdk.trace import TracerProvider
from opentelemetry.sdk.trace.export import SimpleSpanProcessor
from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter
theirs, ours = InMemorySpanExporter(), TracerProvider()
ours.add_span_processor(SimpleSpanProcessor(theirs))
trace.set_tracer_provider(ours)
from om_api import ObservationalMemory, load_settings
from om_api.telemetry import spans
ObservationalMemory(load_settings())
with spans.span("om.push"): pass
print([span.name for span in theirs.get_finished_spans()], trace.get_tracer_provider() is ours)
"""


def test_in_a_program_that_traces_itself_spans_go_where_its_own_go(tmp_path):
    command = [sys.executable, "-c", _PROGRAM]
    found = subprocess.run(command, cwd=tmp_path, env=inherited(), capture_output=True, check=True, text=True)

    assert found.stdout.strip() == "['om.push'] True"

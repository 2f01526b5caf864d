"""Our own spans are to a collector, and to other libraries of the process, what the SDK's would be."""

from opentelemetry import trace
from opentelemetry.sdk.resources import Resource
from opentelemetry.sdk.trace import TracerProvider
from opentelemetry.sdk.trace.export import SimpleSpanProcessor
from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter
from opentelemetry.sdk.util.instrumentation import InstrumentationScope
from traced import Collector, attributes, traced

from om_api import load_settings
from om_api.telemetry import opening, spans
from om_api.telemetry.light import LightTracer
from om_api.telemetry.recording import OtelRecorder

_LINK = f"00-{7:032x}-{9:016x}-01"


def _told(tracer, exporter):
    spans.use(OtelRecorder(tracer))
    with spans.span("om.observe", "consumer", links=[_LINK], resource="harold") as span, spans.span("chat m", "client"):
        span.note(outcome="buffered")
        span.rename("om.observed")
    spans.use(None)
    return [
        (
            one.name,
            one.kind,
            dict(one.attributes),
            [link.context for link in one.links],
            one.parent is None,
            one.status.status_code,
        )
        for one in exporter.get_finished_spans()
    ]


def test_they_say_what_the_sdks_would():
    ours, theirs = InMemorySpanExporter(), InMemorySpanExporter()
    scope, provider = InstrumentationScope("test"), TracerProvider()
    provider.add_span_processor(SimpleSpanProcessor(theirs))
    light = LightTracer(SimpleSpanProcessor(ours), Resource.create({}), scope, 1.0)

    assert _told(light, ours) == _told(provider.get_tracer("test"), theirs)


def test_spans_of_other_libraries_stand_under_them():
    theirs, provider = InMemorySpanExporter(), TracerProvider()
    provider.add_span_processor(SimpleSpanProcessor(theirs))
    with traced() as told:
        with spans.span("om.observe"):
            provider.get_tracer("httpx").start_span("POST").end()
        (ours,) = told.all()
        (post,) = theirs.get_finished_spans()

    assert (post.context.trace_id, post.parent.span_id) == (ours.context.trace_id, ours.context.span_id)
    assert not trace.get_current_span().get_span_context().is_valid


def test_a_library_that_traces_without_a_provider_says_nothing_in_them_and_ends_none():
    with traced() as told:
        with spans.span("om.observe"):
            with trace.NoOpTracer().start_as_current_span("theirs") as span:
                span.set_attribute("prompt", "zebrafinch")
            trace.get_current_span().add_event("zebrafinch")
            trace.get_current_span().record_exception(ValueError("zebrafinch"))
            assert told.all() == []

        assert [one.name for one in told.all()] == ["om.observe"]
        assert "zebrafinch" not in told.text()


def test_half_of_the_traces_are_kept_whole_where_half_are_asked_for():
    exporter, scope = InMemorySpanExporter(), InstrumentationScope("test")
    spans.use(OtelRecorder(LightTracer(SimpleSpanProcessor(exporter), Resource.create({}), scope, 0.5)))
    for _ in range(400):
        with spans.span("om.observe"), spans.span("chat m"):
            pass
    spans.use(None)
    by_trace = {}
    for one in exporter.get_finished_spans():
        by_trace.setdefault(one.context.trace_id, []).append(one.name)

    assert 120 < len(by_trace) < 280
    assert set(map(tuple, by_trace.values())) == {("chat m", "om.observe")}


def test_where_the_sdk_is_told_how_to_sample_its_own_spans_are_sent():
    with Collector() as collector:
        said = {"OM_TELEMETRY__ENDPOINT": collector.url, "OTEL_TRACES_SAMPLER": "always_on"}
        opening.begin(load_settings(None, said), "cortex-om-worker")
        with spans.span("om.push", resource="harold"):
            pass
        opening.end()

        assert [attributes(span) for span in collector.named("om.push")] == [{"cortex_om.resource": "harold"}]

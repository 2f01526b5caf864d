"""While nothing is traced a span is nothing, and nothing that traces is imported."""

import pytest
from opentelemetry import trace
from opentelemetry.sdk.resources import Resource
from opentelemetry.sdk.trace import TracerProvider
from opentelemetry.sdk.trace.export import SimpleSpanProcessor
from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter
from opentelemetry.sdk.util.instrumentation import InstrumentationScope
from traced import traced

from om_api.domain.errors import ModelError
from om_api.domain.values import Scope
from om_api.telemetry import spans
from om_api.telemetry.light import LightTracer
from om_api.telemetry.recording import OtelRecorder


@pytest.fixture
def told():
    with traced() as found:
        yield found


def test_of_many_links_the_last_are_told_each_once(told):
    names = [f"00-{n:032x}-{n:016x}-01" for n in range(1, 21)]
    with spans.span("om.commit", links=["", names[0], "nonsense", *names, names[12]]):
        pass
    (only,) = told.all()

    assert [link.context.trace_id for link in only.links] == [14, 15, 16, 17, 18, 19, 20, 13]


def test_an_error_is_told_by_its_kind(told):
    for error in (ModelError("the key sk-zebrafinch", retryable=True, why="busy"), ValueError("sk-zebrafinch")):
        with pytest.raises(type(error)), spans.span("chat model"):
            raise error

    assert [each.attributes["error.type"] for each in told.all()] == ["busy", "ValueError"]
    assert {each.status.status_code.name for each in told.all()} == {"ERROR"}
    assert "zebrafinch" not in told.text()


def test_what_was_left_is_not_told_and_what_is_apart_is_nobodys_parent(told):
    with spans.span("om.tick") as idle:
        idle.leave()
    with spans.committing(Scope("harold"), []).apart(), spans.span("om.push"):
        pass

    assert [(each.name, each.parent) for each in told.all()] == [("om.push", None), ("om.commit", None)]


def test_what_begins_a_trace_leads_back_to_its_cause_and_nothing_else_does(told):
    cause = f"00-{7:032x}-{9:016x}-01"
    with spans.caused_by(cause), spans.span("om.observe"), spans.span("chat model"):
        pass
    with spans.span("om.observe"):
        pass

    assert [len(each.links) for each in told.all()] == [0, 1, 0]


def test_a_line_of_log_says_in_which_span_it_was_written(told):
    with spans.span("om.observe"):
        line = spans.log_ids(None, "info", {"event": "chunk_observed"})
        name = spans.traceparent()

    assert name == f"00-{line['trace_id']}-{line['span_id']}-01"
    assert line["event"] == "chunk_observed"


_LINK = f"00-{7:032x}-{9:016x}-01"


def _told(tracer, exporter):
    spans.use(OtelRecorder(tracer))
    with spans.span("om.observe", "consumer", links=[_LINK], resource="harold") as span, spans.span("chat m", "client"):
        span.note(outcome="buffered")
        span.rename("om.observed")
    spans.use(None)
    return [
        (
            one.name, one.kind, dict(one.attributes), [link.context for link in one.links], one.parent is None,
            one.status.status_code,
        )
        for one in exporter.get_finished_spans()
    ]  # fmt: skip


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

"""Spans of our own making, for our own exporter: the SDK's cost a worker three times as much, for what is not used here.

They are what its exporters take. Parents, links and whether a trace is sampled are OpenTelemetry's; events there are none.
"""

import time
from collections.abc import Mapping, Sequence
from typing import Any

from opentelemetry import trace
from opentelemetry.context import Context
from opentelemetry.sdk.resources import Resource
from opentelemetry.sdk.trace import ReadableSpan, SpanProcessor
from opentelemetry.sdk.util.instrumentation import InstrumentationScope
from opentelemetry.trace import Link, NonRecordingSpan, SpanContext, SpanKind, Status, TraceFlags

from om_api.domain.timing.chance import chance

_SAMPLED, _LEFT_OUT = TraceFlags(TraceFlags.SAMPLED), TraceFlags(TraceFlags.DEFAULT)
_UNSET = Status()


class LightTracer:
    """Makes spans that a processor is handed when they end; of the traces that begin here a share is kept."""

    def __init__(self, processor: SpanProcessor, resource: Resource, scope: InstrumentationScope, share: float) -> None:
        self.processor, self.resource, self.scope, self._share = processor, resource, scope, share

    def start_span(
        self, name: str, context: Context | None, kind: SpanKind, attributes: dict[str, Any], links: Sequence[Link]
    ) -> trace.Span:
        """As a tracer of OpenTelemetry's."""
        parent = trace.get_current_span(context).get_span_context()
        within = parent if parent.is_valid else None
        of = within.trace_id if within else chance.getrandbits(128) or 1
        kept = within.trace_flags.sampled if within else chance.random() < self._share
        place = SpanContext(
            of, chance.getrandbits(64) or 1, is_remote=False, trace_flags=_SAMPLED if kept else _LEFT_OUT
        )
        return _LightSpan(self, place, within, name, kind, attributes, links) if kept else NonRecordingSpan(place)


class _LightSpan(trace.Span):
    """No NonRecordingSpan: a library that traces without a provider takes those for its own spans, and ends them."""

    def __init__(
        self,
        tracer: LightTracer,
        place: SpanContext,
        parent: SpanContext | None,
        name: str,
        kind: SpanKind,
        attributes: dict[str, Any],
        links: Sequence[Link],
    ) -> None:
        self._place = place
        self._tracer, self._parent, self._name, self._kind = tracer, parent, name, kind
        self._said, self._links, self._status = attributes, [*links], _UNSET
        self._began = time.time_ns()

    def get_span_context(self) -> SpanContext:
        return self._place

    def is_recording(self) -> bool:
        return False  # what others would say of it may be what somebody wrote

    def add_event(self, name: str, attributes: Any = None, timestamp: int | None = None) -> None: ...
    def record_exception(self, exception: BaseException, *_: Any, **__: Any) -> None: ...

    def set_attributes(self, attributes: Mapping[str, Any]) -> None:
        self._said.update(attributes)

    def set_attribute(self, key: str, value: Any) -> None:
        self._said[key] = value

    def add_link(self, context: SpanContext, attributes: Any = None) -> None:
        self._links.append(Link(context, attributes))

    def update_name(self, name: str) -> None:
        self._name = name

    def set_status(self, status: Any, description: str | None = None) -> None:  # noqa: ARG002 -- none is ever said
        self._status = status

    def end(self, end_time: int | None = None) -> None:
        tracer = self._tracer
        done = ReadableSpan(
            name=self._name,
            context=self._place,
            parent=self._parent,
            resource=tracer.resource,
            attributes=self._said,
            links=self._links,
            kind=self._kind,
            status=self._status,
            start_time=self._began,
            end_time=end_time or time.time_ns(),
            instrumentation_scope=tracer.scope,
        )
        tracer.processor.on_end(done)

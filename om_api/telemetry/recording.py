"""Spans of OpenTelemetry. Imported only where something is traced: see opening.py."""

from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from contextvars import ContextVar, Token
from typing import Any, Self

from opentelemetry import context, trace
from opentelemetry.context import Context
from opentelemetry.trace import Link, SpanContext, SpanKind, Status, StatusCode, TraceFlags, Tracer

from om_api.domain.errors import ModelError
from om_api.domain.values import traceparent
from om_api.telemetry.spans import LINKS, OURS, Kind, OurSpan

_KINDS = {
    "internal": SpanKind.INTERNAL,
    "server": SpanKind.SERVER,
    "client": SpanKind.CLIENT,
    "producer": SpanKind.PRODUCER,
    "consumer": SpanKind.CONSUMER,
}
_cause: ContextVar[str] = ContextVar("cortex_om_cause", default="")


class OtelRecorder:
    """Makes spans by a tracer of OpenTelemetry's."""

    def __init__(self, tracer: Tracer) -> None:
        self._tracer = tracer

    def span(
        self,
        name: str,
        kind: Kind,
        links: Iterable[str],
        parent: str,
        plain: Mapping[str, Any],
        ours: Mapping[str, Any],
    ) -> OurSpan:
        """See Recorder."""
        within = _within(parent)
        cause = _cause.get()
        if cause and not trace.get_current_span(within).get_span_context().is_valid:
            links = (cause, *links)
        said = _said(plain, ours)
        begin = self._tracer.start_span(name, within, _KINDS[kind], said, _links(links))
        return _Recorded(begin)

    def current(self) -> OurSpan:
        """See Recorder."""
        return _Recorded(trace.get_current_span())

    def traceparent(self) -> str:
        """See Recorder."""
        of = trace.get_current_span().get_span_context()
        return f"00-{of.trace_id:032x}-{of.span_id:016x}-01" if of.is_valid and of.trace_flags.sampled else ""

    def ids(self) -> dict[str, str]:
        """See Recorder."""
        of = trace.get_current_span().get_span_context()
        return {"trace_id": f"{of.trace_id:032x}", "span_id": f"{of.span_id:016x}"} if of.is_valid else {}

    @contextmanager
    def caused_by(self, traceparent: str) -> Iterator[None]:
        """See Recorder."""
        token = _cause.set(traceparent)
        try:
            yield
        finally:
            _cause.reset(token)


class _Recorded:
    __slots__ = ("_apart", "_left", "_span", "_token")

    def __init__(self, span: trace.Span) -> None:
        self._span = span
        self._apart = self._left = False
        self._token: Token[Context] | None = None

    def __enter__(self) -> Self:
        if not self._apart:
            self._token = context.attach(trace.set_span_in_context(self._span))
        return self

    def __exit__(self, *error: object) -> None:
        if self._token:
            context.detach(self._token)
        if isinstance(cause := error[1], BaseException):
            self._span.set_attribute("error.type", _kind_of(cause))
            self._span.set_status(Status(StatusCode.ERROR))
        if not self._left:
            self._span.end()

    def note(self, plain: Mapping[str, Any] | None = None, /, **ours: Any) -> None:
        self._span.set_attributes(_said(plain or {}, ours))

    def link(self, traceparents: Iterable[str]) -> None:
        for each in _links(traceparents):
            self._span.add_link(each.context)

    def rename(self, name: str) -> None:
        self._span.update_name(name)

    def apart(self) -> Self:
        self._apart = True
        return self

    def leave(self) -> None:
        self._left = True  # one that never ends is never exported


def _within(parent: str) -> Context | None:
    """Where a span begins: under the current one, or under one of another process."""
    if not (of := _context_of(parent)):
        return None
    return trace.set_span_in_context(trace.NonRecordingSpan(of))


def _links(traceparents: Iterable[str]) -> list[Link]:
    """Each once; of many those that were told last."""
    newest = [*dict.fromkeys(reversed(list(traceparents)))]
    found = [of for name in newest if (of := _context_of(name))]
    return [Link(of) for of in reversed(found[:LINKS])]


def _context_of(name: str) -> SpanContext | None:
    if not traceparent(name):
        return None
    _, of, span, flags = name.split("-")
    return SpanContext(int(of, 16), int(span, 16), is_remote=True, trace_flags=TraceFlags(int(flags, 16)))


def _said(plain: Mapping[str, Any], ours: Mapping[str, Any]) -> dict[str, Any]:
    named = {**plain, **{OURS + name: value for name, value in ours.items()}}
    return {name: str(value) if isinstance(value, str) else value for name, value in named.items() if value is not None}


def _kind_of(error: BaseException) -> str:
    """What kind of error it is, and nothing of what it says."""
    return error.why if isinstance(error, ModelError) else type(error).__name__

"""Sending spans over HTTP in the background; whatever is wrong with that fails no work, and is said once."""

import logging
import threading
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any, NamedTuple, TypeVar
from urllib.parse import urlsplit

from opentelemetry.exporter.otlp.proto.http.trace_exporter import OTLPSpanExporter
from opentelemetry.sdk.resources import Resource
from opentelemetry.sdk.trace import ReadableSpan, TracerProvider
from opentelemetry.sdk.trace.export import BatchSpanProcessor, SpanExporter, SpanExportResult
from opentelemetry.sdk.util.instrumentation import InstrumentationScope

from om_api.domain.extras import installed
from om_api.settings.logs import library_log
from om_api.telemetry.light import LightTracer

R = TypeVar("R")
_LOGGERS = [
    "opentelemetry.exporter.otlp.common.http",
    *(f"opentelemetry.exporter.otlp.proto.http.{signal}_exporter" for signal in ("trace", "metric")),
]
_ours = threading.local()


class OwnTracer(NamedTuple):
    """A tracer of our own, which is nobody else's, and its end, before which everything is sent."""

    tracer: Any
    end: Callable[[], Any]


def own_tracer(endpoint: str, resource: Mapping[str, str], share: float | None) -> OwnTracer:
    """Send spans to an endpoint, of a share of the traces that begin here; without one OTEL_TRACES_SAMPLER decides.

    It is ended by us: the SDK's own end waits for as long as a collector takes.
    """
    processor, of = (
        BatchSpanProcessor(QuietExporter(OTLPSpanExporter(endpoint), endpoint)),
        Resource.create({**resource}),
    )
    if share is not None:
        tracer: Any = LightTracer(processor, of, InstrumentationScope("cortex-om", installed()), share)
    else:
        provider = TracerProvider(resource=of, shutdown_on_exit=False)
        provider.add_span_processor(processor)
        tracer = provider.get_tracer("cortex-om", installed())
    return OwnTracer(tracer, processor.shutdown)


class Once:
    """Says that an endpoint takes nothing, and when it does again: once each, whatever the SDK would say of every try."""

    def __init__(self, endpoint: str) -> None:
        self._place = urlsplit(endpoint).netloc.rpartition("@")[2]
        self._away = False

    def tried(self, send: Callable[[], R], taken: Callable[[R], bool]) -> R | None:
        """What sending came to; None where it raised."""
        error, came = "", None
        with _unheard():
            try:
                came = send()
            except Exception as raised:  # noqa: BLE001 -- no work may fail of it
                error = type(raised).__name__
        away = came is None or not taken(came)
        if away != self._away:
            self._away = away
            self._say(error)
        return came

    def _say(self, error: str) -> None:
        if not self._away:
            library_log().info("telemetry_taken_again", endpoint=self._place)
            return
        library_log().warning(
            "telemetry_not_taken",
            endpoint=self._place,
            error=error or "refused or unreachable",
            instead="what is traced meanwhile is lost, work goes on; om doctor says what is wrong with it",
        )


class QuietExporter(SpanExporter):
    """An exporter that fails in silence but for one line."""

    def __init__(self, exporter: SpanExporter, endpoint: str) -> None:
        self._exporter, self._once = exporter, Once(endpoint)

    def export(self, spans: Sequence[ReadableSpan]) -> SpanExportResult:
        """Send spans."""
        took = self._once.tried(lambda: self._exporter.export(spans), lambda came: came is SpanExportResult.SUCCESS)
        return took or SpanExportResult.FAILURE

    def shutdown(self) -> None:
        """Send nothing any more."""
        self._exporter.shutdown()


@contextmanager
def _unheard() -> Iterator[None]:
    """The SDK logs each try by its own loggers: from our thread nothing of that is heard, another exporter's is."""
    for name in _LOGGERS:
        logger = logging.getLogger(name)
        if _is_not_ours not in logger.filters:
            logger.addFilter(_is_not_ours)
    _ours.sends = True
    try:
        yield
    finally:
        _ours.sends = False


def _is_not_ours(_: logging.LogRecord) -> bool:
    return not getattr(_ours, "sends", False)

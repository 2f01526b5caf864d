"""What a test looks at of traces: spans that ended in this process, and a collector that other processes send to."""

import gzip
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any, Self

from opentelemetry.proto.collector.metrics.v1.metrics_service_pb2 import ExportMetricsServiceRequest
from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import ExportTraceServiceRequest
from opentelemetry.sdk.resources import Resource
from opentelemetry.sdk.trace.export import SimpleSpanProcessor
from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter
from opentelemetry.sdk.util.instrumentation import InstrumentationScope

from om_api.telemetry import spans
from om_api.telemetry.light import LightTracer
from om_api.telemetry.recording import OtelRecorder


class Spans:
    """The spans that ended."""

    def __init__(self, exporter: InMemorySpanExporter) -> None:
        self._exporter = exporter

    def all(self) -> list[Any]:
        return list(self._exporter.get_finished_spans())

    def named(self, name: str, **ours: Any) -> list[Any]:
        return [
            span
            for span in self.all()
            if span.name == name and all(span.attributes.get(f"cortex_om.{k}") == v for k, v in ours.items())
        ]

    def linked(self, span: Any) -> list[Any]:
        """The spans that one goes on from."""
        places = {(link.context.trace_id, link.context.span_id) for link in span.links}
        return [each for each in self.all() if (each.context.trace_id, each.context.span_id) in places]

    def clear(self) -> None:
        self._exporter.clear()

    def text(self) -> str:
        """Everything that leaves the process."""
        return "\n".join(span.to_json() for span in self.all())


@contextmanager
def traced() -> Iterator[Spans]:
    """Have this process trace into memory."""
    exporter = InMemorySpanExporter()
    scope, resource = InstrumentationScope("test"), Resource.create({"service.name": "test"})
    spans.use(OtelRecorder(LightTracer(SimpleSpanProcessor(exporter), resource, scope, 1.0)))
    try:
        yield Spans(exporter)
    finally:
        spans.use(None)


class Collector:
    """An OTLP receiver over HTTP; `says` is the status that it answers with."""

    def __init__(self) -> None:
        self.spans: list[Any] = []
        self.metrics: dict[str, Any] = {}
        self.resources: list[dict[str, str]] = []
        self.headers: list[dict[str, str]] = []
        self.raw = b""
        self.says = 200
        self._server = ThreadingHTTPServer(("127.0.0.1", 0), self._handler())

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self._server.server_address[1]}"

    def __enter__(self) -> Self:
        threading.Thread(target=self._server.serve_forever, daemon=True).start()
        return self

    def __exit__(self, *_: object) -> None:
        self._server.shutdown()
        self._server.server_close()

    def named(self, name: str) -> list[Any]:
        return [span for span in self.spans if span.name == name]

    def linked(self, span: Any) -> list[Any]:
        places = {(link.trace_id, link.span_id) for link in span.links}
        return [each for each in self.spans if (each.trace_id, each.span_id) in places]

    def _take(self, path: str, body: bytes) -> None:
        self.raw += body
        if path == "/v1/traces":
            for one in ExportTraceServiceRequest.FromString(body).resource_spans:
                self.resources.append({a.key: a.value.string_value for a in one.resource.attributes})
                self.spans += [span for scope in one.scope_spans for span in scope.spans]
        else:
            for one in ExportMetricsServiceRequest.FromString(body).resource_metrics:
                self.metrics |= {each.name: each for scope in one.scope_metrics for each in scope.metrics}

    def _handler(self) -> type[BaseHTTPRequestHandler]:
        collector = self

        class Handler(BaseHTTPRequestHandler):
            def do_POST(self) -> None:
                body = self.rfile.read(int(self.headers["content-length"]))
                collector.headers.append({k.lower(): v for k, v in self.headers.items()})
                if collector.says == 200:
                    unpacked = gzip.decompress(body) if self.headers["content-encoding"] == "gzip" else body
                    collector._take(self.path, unpacked)
                self.send_response(collector.says)
                self.end_headers()

            def log_message(self, *_: object) -> None: ...

        return Handler


def attributes(span: Any) -> dict[str, Any]:
    """Those of a span that a collector got."""
    return {each.key: getattr(each.value, each.value.WhichOneof("value")) for each in span.attributes}

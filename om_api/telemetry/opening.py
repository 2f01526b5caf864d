"""Beginning to trace, once a process, where somebody said whereto; and its end, which waits for nobody for long."""

import atexit
import os
import socket
import sys
import threading
from collections.abc import Callable
from typing import Any, Literal, TypeAlias

from om_api.domain.extras import installed, missing
from om_api.settings import Settings
from om_api.settings.logs import library_log
from om_api.telemetry import spans

Signal: TypeAlias = Literal["traces", "metrics"]
END_S = 3.0  # that the end of a process waits for what was not sent yet
_API = "opentelemetry.trace"
_once = threading.Lock()
_ends: list[Callable[[], Any]] = []


def endpoint(settings: Settings, signal: Signal) -> str | None:
    """Whereto spans or figures go: the whole address; None: nowhere.

    The setting comes first, then what OpenTelemetry's own variables say; OTEL_SDK_DISABLED=true ends all of it.
    """
    asked, said = settings.memory.telemetry, settings.variable
    if not getattr(asked, signal) or (said("OTEL_SDK_DISABLED") or "").lower() == "true":
        return None
    if own := (None if asked.endpoint else said(f"OTEL_EXPORTER_OTLP_{signal.upper()}_ENDPOINT")):
        return own
    base = asked.endpoint or said("OTEL_EXPORTER_OTLP_ENDPOINT")
    return f"{base.removesuffix('/')}/v1/{signal}" if base else None


def begin(settings: Settings, service: str) -> None:
    """Trace from now on, if the program that we are in does, or if there is an endpoint; else nothing is even imported.

    A program that set up OpenTelemetry before keeps what it set up: our spans go where its own go. What is not installed
    is said in the log, and fails nothing.
    """
    with _once:
        if spans.on() or not settings.memory.telemetry.traces:
            return
        tracer = _of_the_program() or _own(settings, service)
        if tracer is not None:
            from om_api.telemetry.recording import OtelRecorder  # noqa: PLC0415 -- it brings the API of OpenTelemetry

            spans.use(OtelRecorder(tracer))


def end(seconds: float = END_S) -> None:
    """Send what was not sent yet, for so long at most, and trace no longer."""
    with _once:
        spans.use(None)
        ends, _ends[:] = [*_ends], []
    waits = [threading.Thread(target=each, daemon=True) for each in ends]
    for wait in waits:
        wait.start()
    for wait in waits:
        wait.join(seconds / len(waits))


def resource(settings: Settings, service: str) -> dict[str, str]:
    """What says who exports; what OpenTelemetry's variables say stands before it."""
    said = f"{settings.variable('OTEL_RESOURCE_ATTRIBUTES') or ''},"
    named = settings.variable("OTEL_SERVICE_NAME") or said.startswith("service.name=") or ",service.name=" in said
    place = f"{socket.gethostname()}:{os.getpid()}"
    return {"service.version": installed(), "service.instance.id": place} | ({} if named else {"service.name": service})


def _of_the_program() -> Any:
    """The tracer of a provider that somebody else set up; None where nobody did."""
    api = sys.modules.get(_API)
    if api is None or isinstance(provider := api.get_tracer_provider(), api.ProxyTracerProvider):
        return None
    return provider.get_tracer("cortex-om", installed())


def _own(settings: Settings, service: str) -> Any:
    whereto = endpoint(settings, "traces")
    if whereto is None:
        return None
    try:
        from om_api.telemetry.exporting import own_tracer  # noqa: PLC0415 -- it brings the SDK: 30 MB, and half a second
    except ModuleNotFoundError as error:
        library_log().warning("telemetry_not_available", error=str(missing(error, "telemetry")))
        return None
    share = None if settings.variable("OTEL_TRACES_SAMPLER") else settings.memory.telemetry.sample
    own = own_tracer(whereto, resource(settings, service), share)
    _ends.append(own.end)
    atexit.register(end)
    return own.tracer

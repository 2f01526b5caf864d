"""A span for each request, under the caller's own where its `traceparent` header names one. No path, no question is in it."""

from http import HTTPStatus

from starlette.types import ASGIApp, Message, Receive, Scope, Send

from om_api.domain.values import traceparent
from om_api.http.serving.log import QUIET
from om_api.telemetry import spans
from om_api.telemetry.spans import OurSpan

_HEADER = b"traceparent"


class Traced:
    """Wraps an app; what it answers and raises passes through as it is."""

    def __init__(self, app: ASGIApp) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer within a span, where anything is traced."""
        if scope["type"] != "http" or not spans.on():
            await self._app(scope, receive, send)
            return
        status = int(HTTPStatus.INTERNAL_SERVER_ERROR)

        async def noticing(message: Message) -> None:
            nonlocal status
            status = message.get("status", status)
            await send(message)

        with spans.span(scope["method"], "server", parent=_caller(scope)) as span:
            try:
                await self._app(scope, receive, noticing)
            finally:
                _tell(span, scope, status)


def _caller(scope: Scope) -> str:
    said = next((value for name, value in scope["headers"] if name == _HEADER), b"")
    return traceparent(said.decode("latin-1"))


def _tell(span: OurSpan, scope: Scope, status: int) -> None:
    method, route = scope["method"], getattr(scope.get("route"), "path", None)
    if route:
        span.rename(f"{method} {route}")
    if route in QUIET and status < HTTPStatus.BAD_REQUEST:
        span.leave()
    failed = {"error.type": str(status)} if status >= HTTPStatus.INTERNAL_SERVER_ERROR else {}
    said = {"http.request.method": method, "http.route": route, "http.response.status_code": int(status)}
    span.note({**said, "url.scheme": scope.get("scheme"), **failed})

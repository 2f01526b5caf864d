"""One line of log for each request: who asked for what, and how it ended. No question, no body and no key is in it."""

import time
from http import HTTPStatus

import structlog
from starlette.types import ASGIApp, Message, Receive, Scope, Send

_log = structlog.get_logger("om_api.http")
QUIET = ("/healthz", "/readyz", "/metrics")
_LONGEST = 600  # characters of a path: no endpoint has more


class Logged:
    """Wraps an app; what it answers and raises passes through as it is."""

    def __init__(self, app: ASGIApp) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer, then tell."""
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        began, status = time.monotonic(), int(HTTPStatus.INTERNAL_SERVER_ERROR)

        async def noticing(message: Message) -> None:
            nonlocal status
            status = message.get("status", status)
            await send(message)

        try:
            await self._app(scope, receive, noticing)
        finally:
            _tell(scope, status, time.monotonic() - began)


def _tell(scope: Scope, status: int, seconds: float) -> None:
    key = scope.get("state", {}).get("key")
    path = scope["path"][:_LONGEST]
    fields = {"method": scope["method"], "path": path, "status": status, "seconds": round(seconds, 4)}
    if scope["path"] in QUIET and status < HTTPStatus.BAD_REQUEST:
        _log.debug("request_served", **fields)
    else:
        _log.info("request_served", **fields, key=key.id if key else None)

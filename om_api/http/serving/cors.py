"""Which pages of other origins may read our answers; without keys there are none, and no page is let in at all."""

from collections.abc import Iterable

from starlette.middleware.cors import CORSMiddleware
from starlette.types import ASGIApp

_METHODS = ("GET", "POST", "PATCH", "DELETE")
_SENT = ("Authorization", "Content-Type", "Last-Event-ID", "Mcp-Method", "Mcp-Name", "Mcp-Protocol-Version")
_READ = ("Content-Disposition", "Retry-After", "WWW-Authenticate")


def open_to(origins: Iterable[str], app: ASGIApp) -> ASGIApp:
    """The app, whose every answer says to a browser that pages of these origins may read it. They send keys, never cookies."""
    names = list(origins)
    if not names:
        return app
    return CORSMiddleware(app, names, _METHODS, _SENT, expose_headers=_READ)

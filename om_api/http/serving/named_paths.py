"""Resources and threads in paths by any name: a percent-encoded name becomes its id."""

from urllib.parse import quote, unquote

from starlette.types import ASGIApp, Receive, Scope, Send

from om_api.domain.naming.ids import any_name

_BEFORE = "/v1/resources/"
_RESOURCE, _THREADS, _THREAD = 3, 4, 5  # of /v1/resources/<resource>/threads/<thread>, split at its slashes
_WITHIN = {"threads", "aliases"}


class NamedPaths:
    """Middleware that escapes the names of a resource and a thread in a path, before the guard and the routes see it.

    An escaped id stays as it is. A slash in a name is `%2F`. A name without an id, because it is too long, is refused later.
    """

    def __init__(self, app: ASGIApp) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer a request by its escaped path."""
        if scope["type"] == "http" and scope["path"].startswith(_BEFORE):
            scope["path"] = _escaped(scope)  # in place, because outer layers read what the router adds to the scope
        await self._app(scope, receive, send)


def _escaped(scope: Scope) -> str:
    raw = scope.get("raw_path") or quote(scope["path"]).encode()
    parts = [unquote(part) for part in raw.decode("latin-1").split("/")]
    if len(parts) > _RESOURCE:
        parts[_RESOURCE] = any_name(parts[_RESOURCE])
    if len(parts) > _THREAD and parts[_THREADS] in _WITHIN:
        parts[_THREAD] = any_name(parts[_THREAD])
    return "/".join(parts)

"""Names of resources and threads in a path: any text, percent-encoded, is taken as its id."""

from urllib.parse import quote, unquote

from starlette.types import ASGIApp, Receive, Scope, Send

from om_api.domain.naming.ids import any_name

_BEFORE = "/v1/resources/"
_RESOURCE, _THREADS, _THREAD = 3, 4, 5  # of /v1/resources/<resource>/threads/<thread>, split at its slashes
_WITHIN = {"threads", "aliases"}


class NamedPaths:
    """Escapes what is no id where a path names a resource or a thread, before anything looks at it, the guard included.

    An escaped id stays as it is. A slash in a name is `%2F`. A name that has no id, such as a long one, is refused later.
    """

    def __init__(self, app: ASGIApp) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer a request by its escaped path."""
        if scope["type"] == "http" and scope["path"].startswith(_BEFORE):
            scope["path"] = _escaped(scope)  # in place: others look at what the router adds to it
        await self._app(scope, receive, send)


def _escaped(scope: Scope) -> str:
    raw = scope.get("raw_path") or quote(scope["path"]).encode()
    parts = [unquote(part) for part in raw.decode("latin-1").split("/")]
    for place in (_RESOURCE, _THREAD):
        named = place < len(parts) and (place == _RESOURCE or parts[_THREADS] in _WITHIN)
        if named:
            parts[place] = any_name(parts[place])
    return "/".join(parts)

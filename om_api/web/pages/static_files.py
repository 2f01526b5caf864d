"""The pages' scripts, styles and pictures: a browser keeps them until their address, which holds their hash, changes."""

import hashlib
from importlib.resources import files
from typing import NamedTuple

from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import Response

_KINDS = {"css": "text/css; charset=utf-8", "js": "text/javascript; charset=utf-8", "svg": "image/svg+xml"}
_FOREVER = {"Cache-Control": "public, max-age=31536000, immutable", "X-Content-Type-Options": "nosniff"}


class _File(NamedTuple):
    content: bytes
    kind: str
    hash: str


def _read() -> dict[str, _File]:
    found = {}
    for each in files("om_api.web").joinpath("static").iterdir():
        kind = _KINDS.get(each.name.rpartition(".")[2])
        if kind:
            content = each.read_bytes()
            found[each.name] = _File(content, kind, hashlib.sha256(content).hexdigest()[:12])
    return found


_FILES = _read()


def address(name: str) -> str:
    """Where a page finds a file."""
    return f"/ui/static/{name}?{_FILES[name].hash}"


async def serve(request: Request) -> Response:
    """One of the files; 404 for any other name."""
    found = _FILES.get(request.path_params["name"])
    if found is None:
        raise HTTPException(404)
    return Response(found.content, headers=_FOREVER, media_type=found.kind)

"""A large answer in pieces: no step of encoding or sending it is long, and others come in between."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator
from typing import Any

import msgspec
from starlette.responses import Response
from starlette.types import Receive, Scope, Send

_PIECE = 65_536


class Pieces(Response):
    """An answer of JSON that is sent piece by piece, as fast as it is taken."""

    media_type = "application/json"

    def __init__(self, pieces: list[bytes]) -> None:
        super().__init__()
        self.headers["content-length"] = str(sum(map(len, pieces)))
        self._pieces = deque(pieces)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:  # noqa: ARG002  nothing more is read
        """Send them."""
        await send({"type": "http.response.start", "status": self.status_code, "headers": self.raw_headers})
        while self._pieces:
            await send({"type": "http.response.body", "body": self._pieces.popleft(), "more_body": True})
        await send({"type": "http.response.body", "body": b""})


def pieces(value: Any) -> list[bytes]:
    """A value as JSON, the same bytes as of msgspec, in pieces of about 64 kB."""
    made, piece = [], bytearray()
    for fragment in _fragments(value):
        piece += fragment
        if len(piece) >= _PIECE:
            made.append(bytes(piece))
            piece.clear()
    return [*made, bytes(piece)]


def _fragments(value: Any) -> Iterator[bytes]:
    if isinstance(value, msgspec.Struct) and not value.__struct_config__.omit_defaults:
        yield from _entries((field.encode_name, getattr(value, field.name)) for field in msgspec.structs.fields(value))
    elif isinstance(value, dict):
        yield from _entries(value.items())
    elif isinstance(value, list | tuple):
        yield b"["
        for number, item in enumerate(value):
            yield from (b",",) if number else ()
            yield from _fragments(item)
        yield b"]"
    elif isinstance(value, str) and len(value) > _PIECE:
        yield b'"'
        yield from (msgspec.json.encode(value[at : at + _PIECE])[1:-1] for at in range(0, len(value), _PIECE))
        yield b'"'
    else:
        yield msgspec.json.encode(value)


def _entries(entries: Any) -> Iterator[bytes]:
    yield b"{"
    for number, (name, value) in enumerate(entries):
        yield (b"," if number else b"") + msgspec.json.encode(name) + b":"
        yield from _fragments(value)
    yield b"}"

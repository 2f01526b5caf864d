"""What requests are answered with: our own values as the wire format has them, large ones in pieces, and as OpenAPI is told."""

from collections import deque
from collections.abc import Callable, Iterator, Sequence
from typing import Any

import msgspec
from starlette.responses import Response
from starlette.types import Receive, Scope, Send

from om_api.domain.values import Outcome
from om_api.http.serving.problems import MEDIA_TYPE, Problem
from om_api.http.serving.shares import SHARE

_PIECE = 65_536


class Done(msgspec.Struct, frozen=True):
    """The word that what was asked for ended with."""

    outcome: Outcome


class SmallAnswer(Response):
    """A small answer of JSON; `outcome` is the word that it holds, "" where it holds none."""

    media_type = "application/json"
    outcome = ""


class Pieces(Response):
    """A large answer of JSON, sent piece by piece as fast as it is taken: no step is long, and others come in between."""

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


def reply(value: Any) -> Response:
    """A value as JSON."""
    answer = SmallAnswer(msgspec.json.encode(value))
    answer.outcome = str(getattr(value, "outcome", ""))
    return answer


async def rendered(make: Callable[[], Any]) -> Response:
    """What is to be made of a store's reply, as JSON: in a thread, and in pieces, where that was large."""
    share = SHARE.get()
    if not share.large:
        return reply(make())
    found = await share.work(lambda: pieces(make()))
    share.hold(sum(map(len, found)))
    return Pieces(found)


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
        yield from _entries([*_tag(value), *_fields(value)])
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


def _tag(value: msgspec.Struct) -> list[tuple[str, Any]]:
    """By which kinds of one family are told apart; it is no field."""
    config = value.__struct_config__
    return [(config.tag_field, config.tag)] if config.tag_field else []


def _fields(value: msgspec.Struct) -> list[tuple[str, Any]]:
    every = ((field.encode_name, getattr(value, field.name)) for field in msgspec.structs.fields(value))
    return [(name, each) for name, each in every if each is not msgspec.UNSET]


def _entries(entries: Any) -> Iterator[bytes]:
    yield b"{"
    for number, (name, value) in enumerate(entries):
        yield (b"," if number else b"") + msgspec.json.encode(name) + b":"
        yield from _fragments(value)
    yield b"}"


def reference(kind: Any) -> dict[str, str]:
    """Where OpenAPI finds the schema of one of our values."""
    (schema,), _ = msgspec.json.schema_components([kind], ref_template="#/components/schemas/{name}")
    return dict(schema)


def schemas(kinds: Sequence[Any]) -> dict[str, Any]:
    """The schemas of our values, by name."""
    return msgspec.json.schema_components(kinds, ref_template="#/components/schemas/{name}")[1]


def answers(kind: Any, example: Any, *, public: bool = False) -> dict[str, Any]:
    """What a route answers: a value of one kind, for which there is an example, or a problem."""
    KINDS.append(kind)
    return _sends("application/json", reference(kind), msgspec.to_builtins(example), public=public)


def sends(media: str, example: str) -> dict[str, Any]:
    """What a route answers that sends a text of some kind, or a problem."""
    return _sends(media, _TEXT, example, public=False)


def _sends(media: str, schema: dict[str, str], example: Any, *, public: bool) -> dict[str, Any]:
    done = {"description": "done", "content": {media: {"schema": schema, "example": example}}}
    refused = {status: _problem(text) for status, text in _REFUSALS.items() if not public or status == _AWAY}
    return {"responses": {200: done, **refused}}


def takes_lines(example: str) -> dict[str, Any]:
    """What a route says that is sent lines of JSON."""
    content = {LINES: {"schema": _TEXT, "examples": {"file": {"value": example}}}}
    return {"requestBody": {"required": True, "content": content}}


def _problem(text: str) -> dict[str, Any]:
    return {"description": text, "content": {MEDIA_TYPE: {"schema": reference(Problem)}}}


LINES = "application/x-ndjson"
_TEXT = {"type": "string"}
KINDS: list[Any] = [Problem]
_AWAY = 503
_REFUSALS = {
    400: "the body is not JSON",
    401: "no key, none that is known, or one that has expired",
    403: "the key's role or resources do not permit this",
    404: "what is named is not there, or no longer",
    409: "all places of a limited number are taken: give one up, and repeat",
    413: "the body is larger than is permitted here",
    422: "something in it cannot be accepted; nothing was kept",
    429: "the key has too much in flight, or asks or pushes too often: repeat after `Retry-After` seconds",
    503: "the store is away or refuses; `stored` says what became of a write",
}

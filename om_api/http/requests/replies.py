"""What requests are answered with: our own values as the wire format has them, and how OpenAPI is told of them."""

from collections.abc import Callable, Sequence
from typing import Any

import msgspec
from starlette.responses import Response

from om_api.domain.values import Outcome
from om_api.http.requests.pieces import Pieces, pieces
from om_api.http.serving.problems import MEDIA_TYPE, Problem
from om_api.http.serving.shares import SHARE


class Done(msgspec.Struct, frozen=True):
    """The word that what was asked for ended with."""

    outcome: Outcome


def reply(value: Any) -> Response:
    """A value as JSON."""
    return Response(msgspec.json.encode(value), media_type="application/json")


async def rendered(make: Callable[[], Any]) -> Response:
    """What is to be made of a store's reply, as JSON: in a thread, and in pieces, where that was large."""
    share = SHARE.get()
    if not share.large:
        return reply(make())
    found = await share.work(lambda: pieces(make()))
    share.hold(sum(map(len, found)))
    return Pieces(found)


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
    401: "no key, or none that is known",
    403: "the key's role or resources do not permit this",
    413: "the body is larger than is permitted here",
    422: "something in it cannot be accepted; nothing was kept",
    429: "the key has too much in flight: repeat after `Retry-After` seconds",
    503: "the store is away or refuses; `stored` says what became of a write",
}

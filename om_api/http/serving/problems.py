"""Errors as application/problem+json (RFC 9457): what is wrong, where, what is permitted, and what to do next."""

import math
from http import HTTPMethod, HTTPStatus
from typing import Any

import msgspec
from fastapi import FastAPI, Request
from fastapi.exceptions import RequestValidationError
from starlette.exceptions import HTTPException
from starlette.responses import Response
from starlette.routing import Match

from om_api.domain.errors import (
    HookError,
    InvalidInputError,
    NotFoundError,
    OMError,
    QuotaReachedError,
    RateLimitedError,
    SettingsError,
    StoreError,
)
from om_api.domain.messages import TOO_LONG
from om_api.http.serving.limits import RETRY_S

MEDIA_TYPE = "application/problem+json"
RETRY = {"Retry-After": str(RETRY_S)}
_MET = Match.FULL
_MOST = 20  # faults named of one request
_NOT_PARSED = "There was an error parsing the body"  # FastAPI's words where Python's reader of JSON gives up
_READS = ("GET", "HEAD")
_UNKNOWN = "unknown field; /docs lists the fields of each request"
_HINTS = {  # what to send instead, by what is wrong and where in the body
    (
        "missing",
        "messages",
    ): ': send {"messages": [{"role": "user", "content": "…"}]}, whatever a vendor calls its list',
    (
        "model_attributes_type",
    ): ': send an object; messages stand in it as {"messages": [{"role": "user", "content": "…"}]}',
}


class Fault(msgspec.Struct, frozen=True):
    """One thing that is wrong with a request: where, and what is permitted there."""

    where: str
    what: str


class Problem(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """Why a request was refused.

    `stored` stands beside a store's error: true, the write is kept; false, it is not; null, nobody can know: repeat it
    with the same ids.
    """

    title: str
    status: int
    detail: str
    type: str = "about:blank"
    instance: str = ""
    stored: bool | msgspec.UnsetType | None = msgspec.UNSET
    errors: tuple[Fault, ...] = ()


def install(app: FastAPI) -> None:
    """Have every error of an app leave as a problem."""
    app.add_exception_handler(RateLimitedError, _too_fast)
    app.add_exception_handler(StoreError, _store_error)
    app.add_exception_handler(HookError, _later)
    app.add_exception_handler(SettingsError, _later)  # such as a key of redaction that is not set here
    app.add_exception_handler(InvalidInputError, _invalid_input)
    app.add_exception_handler(NotFoundError, _not_found)
    app.add_exception_handler(QuotaReachedError, _conflict)
    app.add_exception_handler(RequestValidationError, _not_valid)
    app.add_exception_handler(HTTPException, _refused)
    app.add_exception_handler(OMError, _unexpected)
    app.add_exception_handler(Exception, _unexpected)


def _reply(request: Request, status: int, detail: str, headers: Any = None, **fields: Any) -> Response:
    title = HTTPStatus(status).phrase
    problem = Problem(title=title, status=status, detail=detail, instance=request.url.path, **fields)
    return Response(msgspec.json.encode(problem), status, headers, MEDIA_TYPE)


def on_the_wire(status: int, detail: str) -> bytes:
    """A problem as a whole answer, for whom no app can be asked; the connection ends with it."""
    title = HTTPStatus(status).phrase
    body = msgspec.json.encode(Problem(title=title, status=status, detail=detail))
    later = RETRY if status == HTTPStatus.SERVICE_UNAVAILABLE else {}
    headers = {"Content-Type": MEDIA_TYPE, "Content-Length": len(body), "Connection": "close", **later}
    lines = (f"{name}: {value}\r\n" for name, value in headers.items())
    return f"HTTP/1.1 {status} {title}\r\n{''.join(lines)}\r\n".encode() + body


async def _store_error(request: Request, error: Any) -> Response:
    return _reply(request, 503, str(error), RETRY, stored=error.stored)


async def _later(request: Request, error: Exception) -> Response:
    return _reply(request, 503, str(error), RETRY)


async def _too_fast(request: Request, error: Any) -> Response:
    after = {"Retry-After": str(math.ceil(error.retry_after))}
    return _reply(request, 429, str(error), after, stored=error.stored)


async def _invalid_input(request: Request, error: Exception) -> Response:
    return _reply(request, 422, str(error))


async def _not_found(request: Request, error: Exception) -> Response:
    return _reply(request, 404, str(error))


async def _conflict(request: Request, error: Exception) -> Response:
    return _reply(request, 409, str(error))


async def _not_valid(request: Request, error: Any) -> Response:
    found = error.errors()
    faults = tuple(_fault(each) for each in found[:_MOST])
    if [each["type"] for each in found] == ["json_invalid"]:
        return _reply(request, 400, f"the body is not JSON: {faults[0].what}", errors=faults)
    if any(isinstance(each.get("input"), bytes) for each in found):  # FastAPI parses only what says that it is JSON
        faults = (Fault("header.content-type", "send the body with Content-Type: application/json"),)
    detail = "; ".join(f"{fault.where}: {fault.what}" for fault in faults)
    kept = "" if request.method in _READS else "; nothing was kept"
    return _reply(request, 422, f"{detail}. Correct it and repeat the request{kept}", errors=faults)


def _fault(error: Any) -> Fault:
    where, *path = error["loc"]
    inside = "".join(f"[{step}]" if isinstance(step, int) else f".{step}" for step in path)
    why = error.get("ctx", {}).get("error") if error["type"] == "json_invalid" else error["msg"]
    if error["type"] == "extra_forbidden":
        why = _UNKNOWN
    return Fault(f"{where}{inside}"[:200], f"{why}{_HINTS.get((error['type'], *path), '')}"[:300])


async def _refused(request: Request, error: Any) -> Response:
    if error.status_code == HTTPStatus.METHOD_NOT_ALLOWED:
        permitted = ", ".join(_permitted(request))
        return _reply(request, 405, f"{request.method} is not permitted here: use {permitted}", {"Allow": permitted})
    return _reply(request, error.status_code, _advice(request, error), error.headers)


def _permitted(request: Request) -> list[str]:
    """The methods of every route at a request's path: whoever refused it knows its own alone."""
    asked = ((method, {**request.scope, "method": method}) for method in HTTPMethod)
    return [
        str(method) for method, scope in asked if any(route.matches(scope)[0] is _MET for route in request.app.routes)
    ]


def _advice(request: Request, refusal: HTTPException) -> str:
    if refusal.status_code == HTTPStatus.NOT_FOUND:
        return f"there is no {request.url.path[:200]} here: /docs and /v1/openapi.json name every path"
    if refusal.detail == _NOT_PARSED:
        return f"the body cannot be read: {TOO_LONG}"
    return refusal.detail


async def _unexpected(request: Request, error: Exception) -> Response:  # noqa: ARG001  its text may hold anything
    return _reply(
        request, 500, "this is our fault, and in the server's log: repeating the request with the same ids is safe"
    )

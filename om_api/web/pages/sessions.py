"""Who looks at a page: the cookie that says so, and the token that shows that a form is one of ours."""

import asyncio
import hashlib
import hmac
import secrets
from functools import partial
from typing import Any
from urllib.parse import parse_qsl, quote, unquote

from fastapi import HTTPException, Request
from starlette.responses import Response

from om_api.http.requests.app_state import SESSION_S, app_state
from om_api.http.requests.guard import of_own_page
from om_api.http.serving.limits import SMALL_BODY

COOKIE, SAID = "om_session", "om_said"
TOKEN_FIELD = "token"  # noqa: S105 - the name of a form's field
_OF_THIS_PROCESS = secrets.token_hex()  # where nobody needs a key there is no session to make a token of
_MOST_FIELDS = 1_000
_FORM = "application/x-www-form-urlencoded"


def session_of(request: Request) -> str:
    """What the browser shows of its session; "" for none."""
    return request.cookies.get(COOKIE, "")


def form_token(request: Request) -> str:
    """What a form of ours sends back: made of the session, and of no use for making one."""
    secret = session_of(request) if app_state(request).locked else _OF_THIS_PROCESS
    return hashlib.sha256(f"form {secret}".encode()).hexdigest()


async def form_of(request: Request) -> dict[str, str]:
    """The fields of a form; raises HTTPException 403 for one that none of our pages of this session sent."""
    fields = await fields_of(request)
    if not hmac.compare_digest(fields.pop(TOKEN_FIELD, "").encode(), form_token(request).encode()):
        raise HTTPException(403, "this form is of another session: load the page again, then repeat")
    return fields


async def fields_of(request: Request) -> dict[str, str]:
    """The fields of a form that needs no session; raises HTTPException 403 for one of another origin's page."""
    if not of_own_page(request):
        raise HTTPException(403, "this form is of another site's page: open ours")
    if request.headers.get("content-type", "").partition(";")[0] != _FORM:
        raise HTTPException(415, f"send a form ({_FORM})")
    try:
        text = (await request.body()).decode()
        parse = partial(parse_qsl, text, keep_blank_values=True, strict_parsing=bool(text), max_num_fields=_MOST_FIELDS)
        return dict(await asyncio.to_thread(parse) if len(text) > SMALL_BODY else parse())
    except ValueError:  # UnicodeDecodeError is one
        raise HTTPException(400, "the form cannot be read: load the page again, then repeat") from None


def remember(request: Request, response: Response, token: str) -> None:
    """Have the browser show a session from now on, to our pages alone and to no script."""
    response.set_cookie(COOKIE, token, max_age=SESSION_S, **_where(request))


def forget(request: Request, response: Response) -> None:
    """Have it show none."""
    response.delete_cookie(COOKIE, **_where(request))


def say(request: Request, response: Response, text: str) -> None:
    """Have the next page say what was done: by a cookie, since whoever makes an address must not make us say anything."""
    response.set_cookie(SAID, quote(text), max_age=60, **_where(request))


def said(request: Request) -> str:
    """What the page before did; "" for nothing, and for a part of a page that only looks again."""
    return "" if "hx-request" in request.headers else unquote(request.cookies.get(SAID, ""))


def say_no_more(request: Request, response: Response) -> None:
    """Have it said once."""
    response.delete_cookie(SAID, **_where(request))


def _where(request: Request) -> dict[str, Any]:
    secure = request.url.scheme == "https"
    return {"path": "/ui", "secure": secure, "httponly": True, "samesite": "strict"}

"""Signing in with a key, and out."""

from fastapi import APIRouter, Request
from starlette.exceptions import HTTPException
from starlette.responses import RedirectResponse, Response

from om_api.domain.api_keys import ExpiredKeyError, Role, Token
from om_api.domain.errors import StoreError
from om_api.http.requests.app_state import app_state
from om_api.http.requests.auditing import audit
from om_api.http.requests.bounded import bounded
from om_api.web.pages.page_route import SIGN_IN, PageRoute, shows
from om_api.web.pages.rendering import page
from om_api.web.pages.sessions import fields_of, forget, remember, session_of

router = APIRouter()
_guarded = APIRouter(route_class=PageRoute)
_MOST = 4_096  # bytes of the form
_FIRST = "/ui/agents"
_UNKNOWN = "this key is not known (any more): om keys create makes one, om keys list names those there are"


@router.get("/sign-in")
async def form(request: Request) -> Response:
    """Where a key is asked for; without keys there is nothing to ask."""
    if not app_state(request).locked:
        return RedirectResponse(_FIRST, 303)
    return page(request, "sign_in.html", next=request.query_params.get("next", ""), problem="")


@router.post("/sign-in")
async def sign_in(request: Request) -> Response:
    """Begin a session with a key, and go on to the page that was asked for."""
    there = ""
    try:
        fields = await fields_of(bounded(request, _MOST, lambda _: None))
        there = _within(fields.get("next", ""))
        token = Token.parse(fields.get("key", "").strip())
        request.state.key = token and await app_state(request).recognise(token.proof)
        if token is None or request.state.key is None:
            return page(request, "sign_in.html", status=403, next=there, problem=_UNKNOWN)
        session = await app_state(request).sign_in(token.proof)
        await audit(request, "signed_in")
    except (ExpiredKeyError, StoreError) as error:
        status = 503 if isinstance(error, StoreError) else 403
        return page(request, "sign_in.html", status=status, next=there, problem=str(error))
    except HTTPException as refusal:
        return page(request, "sign_in.html", status=refusal.status_code, next=there, problem=refusal.detail)
    answer = RedirectResponse(there or _FIRST, 303)
    remember(request, answer, session)
    return answer


@_guarded.post("/sign-out", **shows(Role.READER, did="signed_out"))
async def sign_out(request: Request) -> Response:
    """End the session, here and in the store."""
    await app_state(request).sign_out(session_of(request))
    answer = RedirectResponse(SIGN_IN, 303)
    forget(request, answer)
    return answer


def _within(there: str) -> str:
    """A page of ours, or "": nobody is sent elsewhere by an address that somebody made."""
    return there if there.startswith("/ui/") and there.isascii() and there.isprintable() and "\\" not in there else ""


router.include_router(_guarded)

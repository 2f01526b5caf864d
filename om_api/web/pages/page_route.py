"""A page's route: who may see it, by the session instead of a header, and what is shown where it cannot be."""

from collections.abc import Mapping
from typing import Any
from urllib.parse import quote, urlsplit

from fastapi import Request, Response
from fastapi.exceptions import RequestValidationError
from starlette.exceptions import HTTPException
from starlette.responses import RedirectResponse

from om_api.domain.api_keys import Proof, Role
from om_api.domain.caching import LRU
from om_api.domain.errors import InvalidInputError, NotFoundError, OMError, RateLimitedError, StoreError
from om_api.http.requests.app_state import app_state
from om_api.http.requests.auditing import audit_as
from om_api.http.requests.bounded import Bounded
from om_api.http.requests.guard import Guarded, Handler, needs
from om_api.http.serving.shares import Share
from om_api.web.pages.rendering import page
from om_api.web.pages.sessions import form_of, session_of

SIGN_IN = "/ui/sign-in"
_UNAUTHORIZED = 401
_TYPED = ("text", "now", "comment")  # fields that take a while to write: what was refused of them is shown again
_STATUS: Mapping[type[OMError], int] = {
    NotFoundError: 404,
    InvalidInputError: 422,
    RateLimitedError: 429,
    StoreError: 503,
}


def shows(role: Role = Role.READER, *, did: str = "read", **how: Any) -> dict[str, Any]:
    """What a page's route says of who may see it, as `needs` does for routes of the API, and by which verb it is told of."""
    return needs(role, audited=did, **how)


def may(request: Request) -> dict[str, bool]:
    """What the key that looks may do."""
    role: Role = request.state.key.role
    return {each.value: role.includes(each) for each in Role}


class PageRoute(Guarded):
    """A route that answers with pages: whoever is not signed in is sent to sign in, and what fails is told on a page.

    A page that looks again by itself is not told of anew: that its session opened it was told.
    """

    via = "page"
    of_pages = True

    @property
    def takes_body(self) -> bool:
        """Whether a form is read."""
        return "POST" in (self.methods or ())

    async def proof(self, request: Request) -> Proof | None:
        """What the session shows of its key."""
        return await shown_proof(request)

    async def prepare(self, request: Bounded, share: Share) -> None:  # noqa: ARG002  what is read of a form is small
        """Read the form, which must be ours."""
        if self.takes_body:
            request.state.form = await form_of(request)
            return
        named = request.path_params.get("observation") or request.path_params.get("message")
        audit_as(request, of=named or self.name.removeprefix("show_"))
        if self.audited.did == "read":
            pages: LRU[tuple[str, str], bool] = request.app.state.open_pages
            page_of = session_of(request), request.url.path
            if "hx-request" in request.headers and page_of in pages:
                audit_as(request, did="")
            pages.put(page_of, value=True)

    def get_route_handler(self) -> Handler:
        """Show the page, or say why not."""
        handle = super().get_route_handler()

        async def shown(request: Request) -> Response:
            try:
                return await handle(request)
            except HTTPException as refusal:
                if refusal.status_code == _UNAUTHORIZED:
                    return _to_sign_in(request)
                return failure(request, refusal.status_code, refusal.detail, refusal.headers)
            except RequestValidationError as error:
                told = "; ".join(f"{each['loc'][-1]}: {each['msg']}" for each in error.errors()[:5])
                return failure(request, 422, f"{told}: correct the address, or begin at the agents")
            except OMError as error:
                return failure(request, _status(error), str(error))

        return shown


async def shown_proof(request: Request) -> Proof | None:
    """What a browser's session shows of a key; None for none."""
    token = session_of(request)
    return await app_state(request).signed_in(token) if token and app_state(request).locked else None


def failure(request: Request, status: int, why: str, headers: Mapping[str, str] | None = None) -> Response:
    """A page that says what went wrong, and what to do."""
    typed = [text for name, text in getattr(request.state, "form", {}).items() if name in _TYPED and text.strip()]
    return page(
        request,
        "failure.html",
        status=status,
        headers=headers,
        why=why,
        seen=request.method == "GET",
        typed=typed,
        back=_page_before(request),
    )


def _page_before(request: Request) -> str:
    """The page of ours that a form was on; "" where that is not known."""
    try:
        before = urlsplit(request.headers.get("referer", ""))
    except ValueError:
        return ""
    ours = before.netloc == request.url.netloc and before.path.startswith("/ui/") and request.method != "GET"
    return (before.path + (f"?{before.query}" if before.query else "")) if ours else ""


def _status(error: OMError) -> int:
    return next((status for kind, status in _STATUS.items() if isinstance(error, kind)), 500)


def _to_sign_in(request: Request) -> Response:
    """Where to sign in; a part of a page that asked has its whole page go there."""
    if "hx-request" in request.headers:
        return Response(status_code=204, headers={"HX-Redirect": SIGN_IN})
    there = request.url.path + (f"?{request.url.query}" if request.url.query else "")
    return RedirectResponse(f"{SIGN_IN}?next={quote(there, safe='')}" if request.method == "GET" else SIGN_IN, 303)

"""From a template to a page that a browser loads nothing for from elsewhere, and runs nothing in but our own scripts."""

import time
from collections.abc import Mapping
from typing import Any
from urllib.parse import quote

from fastapi import Request
from jinja2 import Environment, PackageLoader, StrictUndefined
from starlette.responses import HTMLResponse, RedirectResponse, Response

from om_api.domain.api_keys import ApiKey
from om_api.http.requests.app_state import app_state
from om_api.http.requests.auditing import audit_as
from om_api.web.pages import filters, static_files
from om_api.web.pages.sessions import form_token, said, say, say_no_more

ASKED = "The workers were asked"  # what begins so is said until the page shows something else than when it was loaded
_CLOCKS_S = 5  # by which this machine's clock may be ahead of the store's
HEADERS = {
    "Content-Security-Policy": "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; "
    "connect-src 'self'; form-action 'self'; base-uri 'none'; frame-ancestors 'none'",
    "Cache-Control": "no-store",
    "Referrer-Policy": "same-origin",
    "X-Content-Type-Options": "nosniff",
}
_templates = Environment(
    loader=PackageLoader("om_api.web"),
    autoescape=True,
    undefined=StrictUndefined,
    trim_blocks=True,
    lstrip_blocks=True,
    auto_reload=False,
)
_templates.filters |= filters.ALL
_templates.globals["static"] = static_files.address


def page(
    request: Request, template: str, *, status: int = 200, headers: Mapping[str, str] | None = None, **values: Any
) -> HTMLResponse:
    """A template with its values, and what every page knows: who looks, and where."""
    key: ApiKey | None = getattr(request.state, "key", None)
    told = said(request)
    text = _templates.get_template(template).render(
        said=told,
        waits=told.startswith(ASKED),
        since=int((time.time() - _CLOCKS_S) * 1000),
        key=key,
        locked=app_state(request).locked,
        path=request.url.path,
        token=form_token(request),
        **values,
    )
    answer = HTMLResponse(text, status, {**HEADERS, **(headers or {})})
    if told:
        say_no_more(request, answer)
    return answer


def back_to(request: Request, address: str, text: str, outcome: str = "") -> Response:
    """Go on to a page, which says what was done; the audit trail is told how that came out."""
    if outcome:
        audit_as(request, ended=outcome)
    answer = RedirectResponse(address, 303)
    say(request, answer, text)
    return answer


def rendered(template: str, **values: Any) -> str:
    """A part of a page, on one line."""
    return "".join(_templates.get_template(template).render(**values).splitlines())


def address(resource: str, **asked: str | None) -> str:
    """Where an agent's page is."""
    words = "&".join(f"{name}={quote(text, safe='')}" for name, text in asked.items() if text)
    return f"/ui/agents/{quote(resource, safe='')}" + (f"?{words}" if words else "")

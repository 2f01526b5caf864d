"""Who operated what: over HTTP, by the command line, on these pages."""

from typing import Annotated

from fastapi import APIRouter, Query, Request, Response

from om_api.domain.api_keys import Role
from om_api.domain.audit.audit_entry import CHANGES, DID
from om_api.http.requests.guard import bound, key_of
from om_api.web.pages.audit_words import audit_words
from om_api.web.pages.page_route import PageRoute, shows
from om_api.web.pages.reader import reader
from om_api.web.pages.rendering import page

router = APIRouter(route_class=PageRoute)
_SHOWN = 100
_CHANGES = "changes"
Short = Annotated[str, Query(max_length=200)]


@router.get("/audit", **shows(Role.OPERATOR))
async def show_audit(
    request: Request, who: Short = "", did: Short = "", resource: Short = "", before: Short = ""
) -> Response:
    """The newest entries, of the agents that the key is bound to."""
    key = key_of(request)
    if resource:
        bound(key, resource)
    whose = [resource] if resource else list(key.bound or ())
    verbs = CHANGES if did == _CHANGES else [did] if did else []
    found = await reader(request).audit(before, who=who, did=verbs, resource_id=whose, count=_SHOWN)
    asked = {"who": who, "did": did, "resource": resource}
    entries = [(each, audit_words(each)) for each in found.entries]
    return page(
        request,
        "audit.html",
        entries=entries,
        before=found.before,
        asked=asked,
        verbs={_CHANGES: "changes only", **DID},
    )

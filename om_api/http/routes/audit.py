"""The audit trail: who operated what, and who was refused."""

from typing import Annotated

from fastapi import APIRouter, Query, Request, Response

from om_api.domain.api_keys import Role
from om_api.domain.audit.audit_entry import DID, LONGEST, AuditEntry
from om_api.domain.requests.request_model import FirstFault
from om_api.http.requests import examples
from om_api.http.requests.app_state import memory
from om_api.http.requests.guard import Guarded, key_of, needs, whose
from om_api.http.requests.parameters import Page, WhichPage, cursor_of
from om_api.http.requests.replies import answers, reply

router = APIRouter(prefix="/v1", tags=["audit trail"], route_class=Guarded)
_LARGEST = 2**63
Who = Annotated[
    str, Query(max_length=LONGEST, description="the id of a key, or its label, or user@host of a command line")
]
Did = Annotated[
    list[str], Query(max_length=len(DID), description=f"any of {', '.join(DID)}; repeatable; else all"), FirstFault()
]
Resources = Annotated[
    list[str], Query(max_length=100, description="whose; repeatable; else all that the key is bound to"), FirstFault()
]
Since = Annotated[int, Query(ge=0, lt=_LARGEST, description="nothing from before these Unix ms")]


@router.get("/audit", **needs(Role.OPERATOR), **answers(Page[AuditEntry], Page([examples.AUDITED])))
async def list_audit(
    request: Request,
    page: WhichPage,
    who: Who = "",
    did: Did = [],  # noqa: B006 - FastAPI copies it
    resource: Resources = [],  # noqa: B006 - same
    since: Since = 0,
) -> Response:
    """Who did what to the resources that the key is bound to, the newest first; an agent's own traffic is not in it.

    A page may be empty and have a next one: 10,000 entries are looked through at a time.
    """
    names = whose(key_of(request), resource)
    found = await memory(request).audit(page.after, who=who, did=did, resource_id=names, since=since, count=page.limit)
    return reply(Page(found.entries, cursor_of(found.before) if found.before else None))

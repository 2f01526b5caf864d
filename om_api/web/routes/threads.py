"""What somebody says of a thread on an agent's page: its title, and whether it is archived."""

from fastapi import APIRouter, Request, Response

from om_api.domain.api_keys import Role
from om_api.http.requests.auditing import audit_as
from om_api.http.requests.guard import key_of
from om_api.http.requests.parameters import ResourceId
from om_api.web.pages.page_route import PageRoute, shows
from om_api.web.pages.reader import reader_of
from om_api.web.pages.rendering import address, back_to

router = APIRouter(prefix="/agents/{resource}/threads", route_class=PageRoute)


@router.post("/title", **shows(Role.WRITER, did="thread_changed"))
async def name(request: Request, resource: ResourceId) -> Response:
    """Give a thread a title, or give that back to the Observer."""
    form, memory = request.state.form, await reader_of(request, resource)
    thread, title = form.get("thread", ""), form.get("title", "").strip()
    audit_as(request, thread=thread)
    await memory.set_thread(resource, thread, title=title, by=key_of(request).id)
    told = "Named: no suggestion replaces it." if title else "The Observer suggests a title again."
    return back_to(request, address(resource, thread=thread), told)


@router.post("/archive", **shows(Role.WRITER, did="thread_changed"))
async def archive(request: Request, resource: ResourceId) -> Response:
    """Have a thread out of sight, or in sight again."""
    form, memory = request.state.form, await reader_of(request, resource)
    thread, archived = form.get("thread", ""), form.get("archived") == "yes"
    audit_as(request, thread=thread)
    await memory.set_thread(resource, thread, archived=archived, by=key_of(request).id)
    told = "Archived: it is back with its next message." if archived else "It is in sight again."
    return back_to(request, address(resource, thread=thread), told)

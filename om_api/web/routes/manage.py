"""What an agent's owner does rarely: erasing a fact with a list of what goes, removing, moving, taking away and bringing back."""

import hmac
from collections.abc import AsyncIterator, Mapping
from contextlib import suppress

from fastapi import APIRouter, HTTPException, Request, Response
from fastapi.responses import StreamingResponse
from starlette.requests import ClientDisconnect

from om_api.domain.api_keys import Role
from om_api.domain.errors import InvalidInputError
from om_api.domain.values import Outcome
from om_api.http.requests.auditing import audit_as
from om_api.http.requests.bounded import Bounded
from om_api.http.requests.guard import of_own_page
from om_api.http.requests.parameters import ResourceId
from om_api.http.requests.replies import LINES
from om_api.http.serving.limits import MAX_IMPORT
from om_api.http.serving.shares import Share
from om_api.language.words import amount
from om_api.web.pages.page_route import PageRoute, shows
from om_api.web.pages.reader import reader, reader_of
from om_api.web.pages.rendering import address, back_to, page
from om_api.web.pages.sessions import form_token

router = APIRouter()
_pages = APIRouter(prefix="/agents/{resource}", route_class=PageRoute)
TOKEN_HEADER = "x-form-token"  # noqa: S105 - a header's name
_ERASED = {
    "messages": ("message",),
    "observations": ("observation",),
    "generations": ("generation",),
    "rejected": ("rejected entry", "rejected entries"),
}


class FileRoute(PageRoute):
    """A route to which a script of ours sends a file as it is: the form's token comes as a header."""

    takes_body = False  # it is read piece by piece

    async def prepare(self, request: Bounded, share: Share) -> None:  # noqa: ARG002  nothing is read yet
        """Look at the token; raises HTTPException 403 where it is of none of our pages."""
        token = request.headers.get(TOKEN_HEADER, "")
        if not of_own_page(request) or not hmac.compare_digest(token.encode(), form_token(request).encode()):
            raise HTTPException(403, "this form is of another session: load the page again, then repeat")


_files = APIRouter(prefix="/agents/{resource}", route_class=FileRoute)


@_pages.get("/manage", **shows(Role.OPERATOR))
async def show_manage(request: Request, resource: ResourceId) -> Response:
    """What may be done to the whole of a memory."""
    stats = await (await reader_of(request, resource)).stats(resource)
    return page(request, "manage.html", resource=resource, stats=stats, would=None, asked={}, old=None)


@_pages.post("/erase", **shows(Role.OPERATOR, did="erased"))
async def erase(request: Request, resource: ResourceId) -> Response:
    """Show what would go; once that was seen, and confirmed, have it go."""
    form, memory = request.state.form, await reader_of(request, resource)
    asked = {name: form.get(name, "").strip() for name in ("matching", "message_id", "thread_id")}
    named = {name: text or None for name, text in asked.items()}
    sure = form.get("sure") == "yes"
    what = "matching" if named["matching"] else named["message_id"] or ""  # never the text itself
    audit_as(request, of=what, thread=asked["thread_id"], **({} if sure else {"did": ""}))
    done = await memory.erase(resource, **named, dry_run=not sure)
    if sure:
        counts = ", ".join(amount(number, *_ERASED[what]) for what, number in done.counts().items() if number)
        told = f"Erased from {counts}." if done.outcome is Outcome.CLEARED else "There was nothing of it any more."
        return back_to(request, address(resource), told, done.outcome)
    stats = await memory.stats(resource)
    return page(request, "manage.html", resource=resource, stats=stats, would=done, asked=asked, old=None)


@_pages.post("/redact", **shows(Role.OPERATOR, did="redacted"))
async def redact(request: Request, resource: ResourceId) -> Response:
    """Show how much of what was stored before would be replaced; once that was seen, replace it."""
    memory, sure = await reader_of(request, resource), request.state.form.get("sure") == "yes"
    if not sure:
        audit_as(request, did="")
    done = await memory.redact(resource, dry_run=not sure)
    if sure:
        told = f"Redacted: {_kinds(done.kinds)}." if done.places else "There was nothing of it any more."
        return back_to(request, f"{address(resource)}/manage", told, done.outcome)
    stats = await memory.stats(resource)
    found = [_kinds(done.kinds), *(f"{tier}: {amount(n, 'place')}" for tier, n in done.places.items())]
    return page(
        request, "manage.html", resource=resource, stats=stats, would=None, asked={}, old=found if done.places else []
    )


def _kinds(found: Mapping[str, int]) -> str:
    return ", ".join(f"{n:,} {kind}" for kind, n in found.items())


@_pages.post("/clear", **shows(Role.OPERATOR, did="cleared"))
async def clear(request: Request, resource: ResourceId) -> Response:
    """Remove the whole memory, or a thread of it, where its name was written once more."""
    form, memory = request.state.form, await reader_of(request, resource)
    thread = form.get("thread") or None
    audit_as(request, thread=thread or "")
    if form.get("confirm", "").strip() != (thread or resource):
        raise InvalidInputError(f"to remove it write {thread or resource} into the field; nothing was removed")
    did = await memory.clear(resource, thread)
    gone = f"{amount(did.messages, 'message')} and {amount(did.observations, 'observation')}"
    told = f"Removed: {gone}." if did.outcome is Outcome.CLEARED else f"Nothing of {thread or resource} was kept."
    return back_to(request, "/ui/agents" if thread is None else address(resource), told, did.outcome)


@_pages.post("/migrate", **shows(Role.OPERATOR, did="migrated"))
async def migrate(request: Request, resource: ResourceId) -> Response:
    """Move the memory to the other scope."""
    to = request.state.form.get("to", "")
    audit_as(request, of=to)
    outcome = await (await reader_of(request, resource)).migrate_scope(resource, to)
    told = {
        Outcome.BUSY: "Chunks are being observed: nothing was moved, repeat when they are done.",
        Outcome.SUPERSEDED: "The memory changed meanwhile: nothing was moved, repeat.",
        Outcome.REST: "There was nothing to move.",
    }.get(outcome, f"Moved to scope {to}. The settings stay as they are: change scope there too.")
    return back_to(request, f"{address(resource)}/manage", told, outcome)


@_pages.get("/export", **shows(Role.OPERATOR, did="exported"), response_class=StreamingResponse)
async def export(request: Request, resource: ResourceId) -> Response:
    """The whole memory as a file."""
    pieces = (await reader_of(request, resource)).export_memory(resource)
    first = await anext(pieces)  # whoever cannot be read is refused before anything is sent
    name = {"Content-Disposition": f'attachment; filename="{resource}.jsonl"', "Cache-Control": "no-store"}
    return StreamingResponse(_led_by(first, pieces), headers=name, media_type=LINES)


async def _led_by(first: bytes, pieces: AsyncIterator[bytes]) -> AsyncIterator[bytes]:
    yield first
    async for piece in pieces:
        yield piece


@_files.post("/import", **shows(Role.OPERATOR, did="imported", most=MAX_IMPORT, waits=True))
async def bring_back(request: Request, resource: ResourceId) -> Response:
    """Make an exported memory that of a resource, which must hold nothing."""
    did = await reader(request).import_memory(_sent(request), resource)
    counted = ((did.messages, "message"), (did.observations, "observation"), (did.generations, "generation"))
    told = f"Imported: {', '.join(amount(*each) for each in counted)}."
    return back_to(request, address(resource), told)


async def _sent(request: Request) -> AsyncIterator[bytes]:
    """What came of the body; whoever hangs up has sent a file without its last line."""
    with suppress(ClientDisconnect):
        async for piece in request.stream():
            yield piece


router.include_router(_pages)
router.include_router(_files)

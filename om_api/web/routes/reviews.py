"""Reflections that wait for somebody's word before they count."""

import asyncio

from fastapi import APIRouter, Request, Response

from om_api.domain.api_keys import Role, hashed
from om_api.domain.notes.word_diff import word_diff
from om_api.domain.values import Outcome
from om_api.http.requests.guard import key_of
from om_api.http.requests.parameters import OfThread, ResourceId
from om_api.web.pages.page_route import PageRoute, may, shows
from om_api.web.pages.reader import reader, reader_of
from om_api.web.pages.rendering import address, back_to, page

router = APIRouter(route_class=PageRoute)
_LARGE = 6_000_000  # bytes of a form: 400,000 characters, as a browser escapes them


@router.get("/reviews", **shows())
async def show_reviews(request: Request) -> Response:
    """What waits, of the agents that the key is bound to, what counts soonest first."""
    return page(request, "reviews.html", waiting=await reader(request).reviews(key_of(request).bound))


@router.get("/agents/{resource}/review", **shows())
async def show_review(request: Request, resource: ResourceId, thread: OfThread = None) -> Response:
    """What is proposed, word for word beside what is in force."""
    memory = await reader_of(request, resource)
    proposal = await memory.proposal(resource, thread)
    kept = await memory.generations(resource, thread)
    before = kept[-1].text if kept else ""
    changes = await asyncio.to_thread(word_diff, before, proposal.generation.text) if proposal else []
    taken = {*proposal.generation.observation_ids} if proposal else set()
    return page(
        request,
        "review.html",
        proposed=hashed(proposal.generation.text) if proposal else "",
        resource=resource,
        thread=thread,
        proposal=proposal,
        changes=changes,
        replaced=[each for each in await memory.observations(resource, thread) if each.id in taken],
        may=may(request),
    )


@router.post("/agents/{resource}/review/approve", **shows(Role.OPERATOR, did="approved", most=_LARGE))
async def approve(request: Request, resource: ResourceId) -> Response:
    """Have it count, as it is or as it was edited."""
    form, memory = request.state.form, await reader_of(request, resource)
    text, thread = form.get("text", "").replace("\r\n", "\n"), form.get("thread") or None
    edited = None if hashed(text) == form.get("proposed") else text
    outcome = await memory.approve(
        resource, thread, proposal=form.get("proposal") or None, text=edited, by=key_of(request).id
    )
    told = "Approved: it is in force. Bringing the generation before back undoes it."
    told = told if outcome is Outcome.REFLECTED else _GONE
    return back_to(request, address(resource, thread=thread), told, outcome)


@router.post("/agents/{resource}/review/send-back", **shows(Role.OPERATOR, did="sent_back"))
async def send_back(request: Request, resource: ResourceId) -> Response:
    """Have it thought again, with a comment."""
    form, memory = request.state.form, await reader_of(request, resource)
    thread = form.get("thread") or None
    outcome = await memory.send_back(
        resource, thread, comment=form.get("comment", ""), proposal=form.get("proposal") or None, by=key_of(request).id
    )
    told = "Sent back: it is thought again, and will wait for you here."
    told = _GONE if outcome is Outcome.SUPERSEDED else told
    return back_to(request, address(resource, thread=thread), told, outcome)


_GONE = "What you read waits no longer: the memory changed, or somebody else decided. Look at what is there now."

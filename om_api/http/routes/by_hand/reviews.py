"""Reflections that wait until somebody approves them, or sends them back."""

from functools import partial
from typing import Annotated, Any

import msgspec
from fastapi import APIRouter, Body, Request, Response
from msgspec import structs
from pydantic import Field

from om_api.domain.api_keys import EVERY, Role
from om_api.domain.errors import NotFoundError
from om_api.domain.learned import learned
from om_api.domain.requests.request_model import RequestModel
from om_api.domain.texts.surrogates import decode_json
from om_api.domain.values import Outcome
from om_api.http.requests import examples
from om_api.http.requests.app_state import memory, memory_of
from om_api.http.requests.bounded import Bounded
from om_api.http.requests.given import invalid, not_json
from om_api.http.requests.guard import Guarded, key_of, needs
from om_api.http.requests.parameters import OfThread, Page, ResourceId, WhichPage
from om_api.http.requests.replies import Done, answers, rendered, reply
from om_api.http.serving.limits import SMALL_BODY
from om_api.http.serving.shares import Share
from om_api.store.reviews.drafts import Proposal, WaitingReview


@learned
class _ApprovalBody(msgspec.Struct, forbid_unknown_fields=True):
    id: str | None = None
    text: str | None = None


class ReviewRoute(Guarded):
    """A route that parses a large approval in a thread, before FastAPI would do so on the event loop."""

    async def prepare(self, request: Bounded, share: Share) -> None:
        """Parse it, whatever the Content-Type is: FastAPI judges that. No other body is as large."""
        if self.takes_body and len(body := await request.body()) > SMALL_BODY:
            request.taken = await share.work(partial(_parse_approval, body))


def _parse_approval(body: bytes) -> dict[str, Any]:
    """The fields of an approval; raises RequestValidationError for the first fault, before more is decoded."""
    try:
        return structs.asdict(decode_json(body, partial(msgspec.json.decode, type=_ApprovalBody)))
    except msgspec.ValidationError as error:
        raise invalid("value_error", (), str(error)) from None
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError) as error:
        raise not_json((), error) from None


router = APIRouter(prefix="/v1", tags=["reflections"], route_class=ReviewRoute)
_OF_RESOURCE = "/resources/{resource}/review"
_LARGE = 2_000_000  # bytes of a body: 400,000 characters, escaped
_Id = Annotated[str | None, Field(max_length=200, description="`id` of the one that was read; null: whatever waits")]


class Approval(RequestModel):
    """Which reflection is approved, and what takes the place of its text, if anything does."""

    id: _Id = None
    text: str | None = Field(default=None, max_length=400_000, description="an edited text; null: as it is")


class Refusal(RequestModel):
    """Which reflection is sent back, and what is said to it."""

    id: _Id = None
    comment: str = Field(default="", max_length=8_000, description="what is wrong with it, for the model")


_APPROVED = {"edited": {"value": {"text": "* 🔴 User flies to Oslo on Friday, November 20."}}}
_REFUSED = {"comment": {"value": {"comment": "Ada is his sister."}}}


@router.get("/reviews", **needs(Role.OPERATOR), **answers(Page[WaitingReview], Page([examples.WAITING])))
async def list_reviews(request: Request, page: WhichPage) -> Response:
    """What waits for its review, as far as the key is bound to it; what counts soonest comes first."""
    key = key_of(request)
    found = await memory(request).reviews(None if EVERY in key.resources else key.resources)
    return await rendered(lambda: page.of(found, lambda one: f"{one.expires_at:015}|{one.resource}|{one.thread or ''}"))


@router.get(_OF_RESOURCE, **needs(Role.OPERATOR), **answers(Proposal, examples.PROPOSAL))
async def get_review(request: Request, resource: ResourceId, thread_id: OfThread = None) -> Response:
    """The reflection of a memory that waits, with the text of the one in force before it; 404 where none does.

    Where each thread has a memory of its own, `thread_id` must be given.
    """
    found = await memory(request).proposal(resource, thread_id)
    if found is None:
        raise NotFoundError(f"nothing of {resource} waits for a review: GET /v1/reviews lists what does")
    return await rendered(lambda: found)


@router.post(
    f"{_OF_RESOURCE}/approve",
    **needs(Role.OPERATOR, most=_LARGE, audited="approved"),
    **answers(Done, Done(Outcome.REFLECTED)),
)
async def approve(
    request: Request,
    resource: ResourceId,
    given: Annotated[Approval | None, Body(openapi_examples=_APPROVED)] = None,
    thread_id: OfThread = None,
) -> Response:
    """Have it count: `reflected`, or `superseded` where it does not wait (any more). Restoring a generation undoes it."""
    asked, om = given or Approval(), await memory_of(request, resource)
    by = key_of(request).id
    return reply(Done(await om.approve(resource, thread_id, proposal=asked.id, text=asked.text, by=by)))


@router.post(
    f"{_OF_RESOURCE}/send-back",
    **needs(Role.OPERATOR, audited="sent_back"),
    **answers(Done, Done(Outcome.SENT_BACK)),
)
async def send_back(
    request: Request,
    resource: ResourceId,
    given: Annotated[Refusal | None, Body(openapi_examples=_REFUSED)] = None,
    thread_id: OfThread = None,
) -> Response:
    """Have it thought again, with a comment: `sent_back`, or `superseded` where it does not wait (any more)."""
    asked, om = given or Refusal(), await memory_of(request, resource)
    by = key_of(request).id
    return reply(Done(await om.send_back(resource, thread_id, comment=asked.comment, proposal=asked.id, by=by)))

"""Webhooks: who is sent what happens, what could not be sent, and sending it again."""

from typing import Annotated

import msgspec
from fastapi import APIRouter, Body, HTTPException, Path, Query, Request, Response
from pydantic import Field

from om_api.domain.api_keys import EVERY, ApiKey, Role
from om_api.domain.audit.audit_entry import only
from om_api.domain.errors import InvalidInputError, NotFoundError
from om_api.domain.events import KINDS
from om_api.domain.requests.request_model import FirstFault, RequestModel
from om_api.domain.values import Outcome
from om_api.domain.webhooks.delivery import Delivery
from om_api.domain.webhooks.webhook import ID, LONGEST_URL, Webhook
from om_api.http.requests import examples
from om_api.http.requests.app_state import app_state
from om_api.http.requests.auditing import audit_as
from om_api.http.requests.guard import Guarded, bound, key_of, needs
from om_api.http.requests.parameters import Page, WhichPage
from om_api.http.requests.replies import Done, answers, reply
from om_api.http.serving.limits import MAX_WAIT_S
from om_api.store.fleet import webhook_queue, webhook_records
from om_api.store.fleet.webhook_records import WebhookState

router = APIRouter(prefix="/v1/webhooks", tags=["webhooks"], route_class=Guarded)
_MOST_GLOBS = 100
WebhookId = Annotated[str, Path(pattern=f"^{ID.pattern}$", description="one webhook")]
DeliveryId = Annotated[str | None, Query(max_length=200, description="one that was given up; else all of them")]
Wait = Annotated[float, Query(ge=0, le=MAX_WAIT_S, description="seconds")]


class WantedWebhook(RequestModel):
    """Where events are to be sent; of all kinds and of all resources that the key is bound to, unless some are named."""

    url: str = Field(max_length=LONGEST_URL, description="https", examples=["https://example.org/om"])
    events: Annotated[list[str], FirstFault()] = Field(
        [], max_length=len(KINDS), description=f"any of {', '.join(KINDS)}"
    )
    resources: Annotated[list[str], FirstFault()] = Field(
        [],
        max_length=_MOST_GLOBS,
        description="ids, or globs of them where the key is for `*`",
        examples=[["worker-*"]],
    )


class MadeWebhook(msgspec.Struct, frozen=True):
    """A new webhook, and the secret that signs its deliveries, which can never be had again."""

    id: str
    url: str
    events: tuple[str, ...]
    resources: tuple[str, ...]
    secret: str


class TriedWebhook(msgspec.Struct, frozen=True):
    """What became of a delivery that tries a webhook out: `delivered`, `failed` and why, `busy` while no worker has tried."""

    delivery: str
    outcome: str
    error: str


class Retried(msgspec.Struct, frozen=True):
    """How many deliveries wait to be sent once more."""

    queued: int


_TRIED = TriedWebhook(examples.DELIVERY.id, "delivered", "")
_MADE = MadeWebhook("3f1c20a9be77", "https://example.org/om", ("failed",), (EVERY,), "whsec_bm9uZQ==")


_WANTED = {"url": _MADE.url, "events": ["reflected", "failed"], "resources": ["harold"]}
Asked = Annotated[WantedWebhook, Body(openapi_examples={"two kinds": {"value": _WANTED}})]


@router.post("", **needs(Role.OPERATOR, audited="webhook_added"), **answers(MadeWebhook, _MADE))
async def add_webhook(request: Request, asked: Asked) -> Response:
    """Send future events to an address, signed with a secret that only this reply contains.

    A key may add 20 webhooks, and a store has at most 100; a further one is refused with 409 until one is removed.
    """
    key, state = key_of(request), app_state(request)
    for name in asked.resources:
        bound(key, name)
    private = state.settings.memory.webhooks.allow_private
    globs = asked.resources or key.resources
    if not globs:
        raise HTTPException(403, "this key is bound to no resource: om keys create makes one that is")
    steps = webhook_records.add(state.keys, asked.url, asked.events, globs, allow_private=private, by=key.id)
    audit_as(request, resource=only(globs))
    made = await state.connection.run(steps)
    audit_as(request, of=made.id)
    return reply(MadeWebhook(made.id, made.url, made.events, made.resources, made.secret))


@router.get("", **needs(Role.OPERATOR), **answers(Page[WebhookState], Page([examples.WEBHOOK])))
async def list_webhooks(request: Request, page: WhichPage) -> Response:
    """The webhooks for resources that the key is bound to, and how their deliveries stand; no secret is among them."""
    state = app_state(request)
    key, webhooks = key_of(request), await state.connection.run(webhook_records.every(state.keys))
    found = [webhook for webhook in webhooks if _covers(key, webhook)]
    return reply(page.of(await state.connection.run(webhook_records.states(state.keys, found)), lambda each: each.id))


@router.delete("/{webhook}", **needs(Role.OPERATOR, audited="webhook_removed"), **answers(Done, Done(Outcome.CLEARED)))
async def remove_webhook(request: Request, webhook: WebhookId) -> Response:
    """End a webhook, with all that waits for it."""
    found, state = await _found(request, webhook), app_state(request)
    gone = await state.connection.run(webhook_records.remove(state.keys, found.id))
    return reply(Done(Outcome.CLEARED if gone else Outcome.SUPERSEDED))


@router.post(
    "/{webhook}/test", **needs(Role.OPERATOR, waits=True, audited="webhook_tried"), **answers(TriedWebhook, _TRIED)
)
async def try_webhook(request: Request, webhook: WebhookId, wait: Wait = 0) -> Response:
    """Have a worker send something that is no event, and say whether it arrived within `wait` seconds."""
    found, state = await _found(request, webhook), app_state(request)
    if found.disabled:
        raise InvalidInputError(f"webhook {webhook} is disabled, nothing is sent: enable it first")
    sent = await state.connection.run(webhook_queue.try_out(state.keys, found))
    try:
        async with state.stopping.ends():
            stands = await state.connection.run(webhook_queue.await_attempt(state.keys, webhook, sent.id, wait))
    except TimeoutError:
        stands = sent
    return reply(TriedWebhook(sent.id, *webhook_queue.judged(stands)))


@router.get("/{webhook}/dead", **needs(Role.OPERATOR), **answers(Page[Delivery], Page([examples.DELIVERY])))
async def list_dead(request: Request, webhook: WebhookId, page: WhichPage) -> Response:
    """What was given up within the last week, the newest 100, each with the error of its last attempt."""
    found, state = await _found(request, webhook), app_state(request)
    given_up = await state.connection.run(webhook_queue.dead(state.keys, found.id))
    return reply(page.of(given_up, lambda each: f"{each.died_at:015}|{each.id}"))


@router.post("/{webhook}/retry", **needs(Role.OPERATOR, audited="webhook_retried"), **answers(Retried, Retried(1)))
async def retry_dead(request: Request, webhook: WebhookId, delivery: DeliveryId = None) -> Response:
    """Send what was given up once more: all of it, or one delivery."""
    found, state = await _found(request, webhook), app_state(request)
    return reply(Retried(await state.connection.run(webhook_queue.retry(state.keys, found.id, delivery))))


@router.post(
    "/{webhook}/enable", **needs(Role.OPERATOR, audited="webhook_enabled"), **answers(Done, Done(Outcome.REST))
)
async def enable_webhook(request: Request, webhook: WebhookId) -> Response:
    """Have events sent again to a webhook whose receiver had answered 410 Gone, what waited meanwhile first."""
    found, state = await _found(request, webhook), app_state(request)
    done = not found.disabled or await state.connection.run(webhook_records.disable(state.keys, found, ""))
    return reply(Done(Outcome.REST if done else Outcome.SUPERSEDED))


async def _found(request: Request, webhook: str) -> Webhook:
    """A webhook that the key may know of; raises NotFoundError for any other."""
    state = app_state(request)
    found = await state.connection.run(webhook_records.get(state.keys, webhook))
    if found is None or not _covers(key_of(request), found):
        raise NotFoundError(f"there is no webhook {webhook} (any more): GET /v1/webhooks lists them")
    audit_as(request, resource=only(found.resources))
    return found


def _covers(key: ApiKey, webhook: Webhook) -> bool:
    return all(map(key.covers, webhook.resources))

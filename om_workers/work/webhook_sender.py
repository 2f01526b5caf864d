"""Sending a delivery to its webhook: nothing of the answer is read but its status."""

from http import HTTPStatus
from typing import NamedTuple

from om_api.domain.webhooks import signing
from om_api.domain.webhooks.delivery import Delivery
from om_api.domain.webhooks.webhook import Webhook
from om_api.outbound.posting import NotPostedError, post


class Answer(NamedTuple):
    """How an attempt ended: `error` says why it failed, "" if it arrived; `gone`: the receiver wants nothing any more."""

    error: str = ""
    gone: bool = False


async def send(webhook: Webhook, delivery: Delivery, at: int, *, allow_private: bool, patience: float) -> Answer:
    """Make one attempt, signed at `at` (Unix s), as `post` does. Raises nothing for a receiver that fails."""
    body = delivery.body.encode()
    headers = signing.headers(webhook.secret, delivery.id, at, body)
    try:
        return _judged((await post(webhook.url, headers, body, allow_private=allow_private, patience=patience)).status)
    except NotPostedError as error:
        return Answer(str(error))


def _judged(status: int) -> Answer:
    if HTTPStatus.OK <= status < HTTPStatus.MULTIPLE_CHOICES:
        return Answer()
    if status == HTTPStatus.GONE:
        return Answer("answered 410", gone=True)
    redirects = HTTPStatus.MULTIPLE_CHOICES <= status < HTTPStatus.BAD_REQUEST
    return Answer(f"answered {status}: redirects are not followed" if redirects else f"answered {status}")

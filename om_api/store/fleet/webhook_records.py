"""The webhooks of a store: one hash, a webhook's id -> what it is, its secret included, since workers sign with it."""

from collections.abc import Collection, Sequence

import msgspec

from om_api.domain.errors import QuotaReachedError
from om_api.domain.learned import learned
from om_api.domain.webhooks.signing import new_secret
from om_api.domain.webhooks.webhook import (
    MOST,
    MOST_OF_A_KEY,
    Webhook,
    check_events,
    check_resources,
    check_url,
    new_id,
)
from om_api.store.driver.replies import Pair, as_bytes, as_hash, as_int, as_list, as_pairs, says, word
from om_api.store.driver.steps import Steps, Verb, batch, each
from om_api.store.fleet import event_stream
from om_api.store.memory import due
from om_api.store.memory.keys import Keys


@learned
class WebhookState(msgspec.Struct, frozen=True, kw_only=True):
    """A webhook as it is shown, without its secret: how many deliveries wait, were made, failed, were given up or dropped.

    `disabled` says why nothing is sent any more. `dead` are those given up that can be sent again. `oldest` is the time of what
    waits longest (Unix ms), 0 where nothing waits.
    """

    id: str
    url: str
    events: tuple[str, ...]
    resources: tuple[str, ...]
    created_at: int
    disabled: str
    waiting: int = 0
    oldest: int = 0
    dead: int = 0
    delivered: int = 0
    failed: int = 0
    given_up: int = 0
    dropped: int = 0


def add(
    keys: Keys, url: str, events: Collection[str], resources: Collection[str], *, allow_private: bool, by: str = ""
) -> Steps[Webhook]:
    """Add a webhook for future events, made with the API key `by`. Its secret cannot be read again.

    Raises InvalidInputError, and QuotaReachedError if there are too many, in all or of this key.
    """
    address = check_url(url, allow_private=allow_private)
    kinds, globs = check_events(events), check_resources(resources)
    now, after = (yield from due.server_ms()), (yield from event_stream.end(keys))
    webhook = Webhook(
        id=new_id(), url=address, secret=new_secret(), events=kinds, resources=globs, after=after, created_at=now, by=by
    )
    args = [webhook.id, msgspec.json.encode(webhook), MOST, by, MOST_OF_A_KEY]
    did = yield from Verb("add_webhook", [keys.webhooks], args, word)
    if did != "added":
        most = f"{MOST_OF_A_KEY} of this key" if did == "full_of_key" else f"{MOST} in all"
        raise QuotaReachedError(f"too many webhooks: {most}; remove one first (om webhooks list)")
    return webhook


def every(keys: Keys) -> Steps[list[Webhook]]:
    """Every webhook, the oldest first."""
    found = yield from as_list("HVALS", keys.webhooks)
    webhooks = [msgspec.json.decode(value, type=Webhook) for value in found]
    return sorted(webhooks, key=lambda webhook: (webhook.created_at, webhook.id))


def get(keys: Keys, webhook: str) -> Steps[Webhook | None]:
    """One webhook; None if there is none of that name."""
    found = yield from as_bytes("HGET", keys.webhooks, webhook)
    return msgspec.json.decode(found, type=Webhook) if found else None


def states(keys: Keys, webhooks: Sequence[Webhook]) -> Steps[list[WebhookState]]:
    """How webhooks stand, in their order."""
    reads = (
        batch(
            as_int("ZCARD", keys.waiting(webhook.id)),
            as_pairs("ZRANGE", keys.arrived(webhook.id), 0, 0, "WITHSCORES"),
            as_int("ZCARD", keys.dead(webhook.id)),
            as_hash("HGETALL", keys.figures(webhook.id)),
        )
        for webhook in webhooks
    )
    found = yield from each(reads, atomic=False)
    return [_state(webhook, *figures) for webhook, figures in zip(webhooks, found, strict=True)]


def _state(
    webhook: Webhook, waiting: int, first: Sequence[Pair], dead: int, figures: dict[bytes, bytes]
) -> WebhookState:
    counts = {name.decode(): int(value) for name, value in figures.items()}
    return WebhookState(
        id=webhook.id,
        url=webhook.url,
        events=webhook.events,
        resources=webhook.resources,
        created_at=webhook.created_at,
        disabled=webhook.disabled,
        waiting=waiting,
        oldest=int(first[0][1]) if first else 0,
        dead=dead,
        delivered=counts.get("delivered", 0),
        failed=counts.get("failed", 0),
        given_up=counts.get("dead", 0),
        dropped=counts.get("dropped", 0),
    )


def remove(keys: Keys, webhook: str) -> Steps[bool]:
    """End a webhook with all that waits for it; False when there is none (any more)."""
    kept = (keys.waiting, keys.arrived, keys.deliveries, keys.dead, keys.figures)
    gone, *_ = yield from batch(
        as_int("HDEL", keys.webhooks, webhook),
        as_int("ZREM", keys.due_webhooks, webhook),
        as_int("UNLINK", *(name(webhook) for name in kept)),
    ).writing()
    return bool(gone)


def disable(keys: Keys, webhook: Webhook, why: str) -> Steps[bool]:
    """Have nothing sent to a webhook any more, or again where `why` is ""; False if it was changed meanwhile.

    What waits goes on waiting.
    """
    changed = msgspec.structs.replace(webhook, disabled=why)
    args = [webhook.id, msgspec.json.encode(webhook), msgspec.json.encode(changed)]
    if not (yield from Verb("rekey", [keys.webhooks], args, says(b"rest"))):
        return False
    if not why:
        yield from due.mark(keys.due_webhooks, [webhook.id])
    return True

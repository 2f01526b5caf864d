"""What waits to be sent to webhooks: put there with the cursor that has read it, tried when it is due, given up in the end."""

from collections.abc import Mapping, Sequence
from typing import Any, Literal, NamedTuple

import msgspec

from om_api.domain.events import GAP, Event, Told, Wanted
from om_api.domain.webhooks.delivery import TEST, Delivery, delivery_of
from om_api.domain.webhooks.webhook import Webhook, place
from om_api.store.driver.replies import as_bytes, as_fields, as_list, as_pairs, says, server_ms
from om_api.store.driver.steps import Steps, Verb, Wait, exact
from om_api.store.fleet import event_stream
from om_api.store.memory.keys import Keys

_POLL_S = 0.1
DEAD, DEAD_MS = 100, 7 * 86_400_000  # what was given up is kept so many, and so long
AT_ONCE = 200  # events that are passed on in one step
Outcome = Literal["delivered", "failed", "dead"]


class Due(NamedTuple):
    """A delivery that is to be tried now, and the bytes it was read as, by which it is recognised."""

    delivery: Delivery
    member: bytes


class Passed(NamedTuple):
    """What became of some events: how many deliveries they are, how many older ones had to go for them.

    `gaps`: how often events were trimmed before they were read. `more`: there are more events.
    """

    queued: int = 0
    dropped: int = 0
    gaps: int = 0
    more: bool = False


def fan_out(keys: Keys, webhooks: Sequence[Webhook], most: int) -> Steps[Passed]:
    """Put the next events into what waits for the webhooks that take them, `most` for each, and move on behind them.

    Events that were trimmed before they were read are a gap, which every webhook is told of.
    """
    was = yield from as_bytes("GET", keys.webhooks_cursor)
    begun = min((webhook.after for webhook in webhooks), key=place)
    start = max(begun, was.decode() if was else begun, key=place)
    told = yield from event_stream.since(keys, start, Wanted(), AT_ONCE)
    if told.after == start and was:
        return Passed()
    found = {
        webhook.id: [delivery_of(webhook, one) for one in told.events if webhook.takes(one)] for webhook in webhooks
    }
    dropped = yield from _moved(keys, (was or b"").decode(), told, found, most)
    if dropped is None:
        return Passed(more=True)
    gaps = sum(event.kind == GAP for event in told.events)
    return Passed(sum(map(len, found.values())), dropped, gaps, len(told.events) >= AT_ONCE)


def _moved(keys: Keys, was: str, told: Told, found: Mapping[str, list[Delivery]], most: int) -> Steps[int | None]:
    names, args = [keys.webhooks_cursor, keys.webhooks, keys.due_webhooks], [was, told.after, most]
    for webhook, deliveries in found.items():
        if deliveries:
            names += [name(webhook) for name in (keys.waiting, keys.arrived, keys.deliveries, keys.figures)]
            args += [webhook, len(deliveries)]
            args += [word for one in deliveries for word in (one.id, exact(one.order), msgspec.json.encode(one))]
    return (yield from Verb("fan_out", names, args, _dropped))


def _dropped(reply: Any) -> int | None:
    return None if reply == b"superseded" else int(reply)


def due_now(keys: Keys, webhook: str, now: int, count: int) -> Steps[list[Due]]:
    """The deliveries of a webhook that are to be tried by server ms `now`, the longest due first."""
    names = yield from as_list("ZRANGE", keys.waiting(webhook), "-inf", now, "BYSCORE", "LIMIT", 0, count)
    kept = (yield from as_fields("HMGET", keys.deliveries(webhook), *names)) if names else []
    return [Due(msgspec.json.decode(member, type=Delivery), member) for member in kept if member]


def next_due(keys: Keys, webhook: str) -> Steps[int | None]:
    """When (server ms) the next delivery of a webhook is to be tried; None when none waits."""
    first = yield from as_pairs("ZRANGE", keys.waiting(webhook), 0, 0, "WITHSCORES")
    return int(first[0][1]) if first else None


def attempted(
    keys: Keys, webhook: str, tried: Due, outcome: Outcome, error: str = "", wait_s: float = 0
) -> Steps[bool]:
    """Note how an attempt at a delivery ended; False if another worker did before.

    One that failed is tried again in `wait_s`.
    """
    delivery, died = tried.delivery, (yield from server_ms()) if outcome == "dead" else 0
    becomes = msgspec.structs.replace(delivery, attempts=delivery.attempts + 1, error=error, died_at=died)
    names = [name(webhook) for name in (keys.waiting, keys.arrived, keys.deliveries, keys.dead, keys.figures)]
    args = [delivery.id, tried.member, outcome, msgspec.json.encode(becomes), round(wait_s * 1000), DEAD, DEAD_MS]
    return (yield from Verb("attempted", names, args, says(b"noted")))


def dead(keys: Keys, webhook: str) -> Steps[list[Delivery]]:
    """What was given up of a webhook within the last week, the newest 100, oldest first."""
    return [msgspec.json.decode(member, type=Delivery) for member in (yield from _dead(keys, webhook))]


def _dead(keys: Keys, webhook: str) -> Steps[list[bytes]]:
    now = yield from server_ms()
    return (yield from as_list("ZRANGE", keys.dead(webhook), now - DEAD_MS, "+inf", "BYSCORE"))


def retry(keys: Keys, webhook: str, delivery: str | None = None) -> Steps[int]:
    """Have what was given up tried again, all of it or one delivery, with its id, as if it was new; how many that are."""
    again = 0
    for member in (yield from _dead(keys, webhook)):
        found = msgspec.json.decode(member, type=Delivery)
        if delivery in {None, found.id}:
            fresh = msgspec.structs.replace(found, attempts=0, error="", died_at=0)
            again += yield from _enqueue(keys, webhook, fresh, member)
    return again


def try_out(keys: Keys, webhook: Webhook) -> Steps[Delivery]:
    """Have something sent to a webhook that is no event, to see whether it arrives."""
    now = yield from server_ms()
    delivery = delivery_of(webhook, Event(kind=TEST, id=f"{now}-0", at=now))
    yield from _enqueue(keys, webhook.id, delivery, b"")
    return delivery


def _enqueue(keys: Keys, webhook: str, delivery: Delivery, dead_as: bytes) -> Steps[bool]:
    own = [name(webhook) for name in (keys.waiting, keys.arrived, keys.deliveries, keys.dead)]
    args = [webhook, dead_as, delivery.id, exact(delivery.order), msgspec.json.encode(delivery)]
    return (yield from Verb("enqueue", [keys.webhooks, keys.due_webhooks, *own], args, says(b"queued")))


def await_attempt(keys: Keys, webhook: str, delivery: str, wait: float) -> Steps[Delivery | None]:
    """A delivery once it was tried, or as it stands after `wait` seconds; None: it has arrived."""
    waited = 0.0
    while True:
        found = yield from _stands(keys, webhook, delivery)
        if found is None or found.attempts or waited >= wait:
            return found
        yield from Wait(_POLL_S)
        waited += _POLL_S


class Arrival(NamedTuple):
    """What became of a delivery: `delivered`, `failed` and why, or `busy` while nobody has tried."""

    outcome: str
    error: str = ""


def judged(stands: Delivery | None) -> Arrival:
    """What became of a delivery that stands so; None: it arrived."""
    if stands is None:
        return Arrival("delivered")
    return Arrival("failed", stands.error) if stands.attempts else Arrival("busy")


def _stands(keys: Keys, webhook: str, delivery: str) -> Steps[Delivery | None]:
    waiting = yield from as_bytes("HGET", keys.deliveries(webhook), delivery)
    if waiting:
        return msgspec.json.decode(waiting, type=Delivery)
    return next((one for one in (yield from dead(keys, webhook)) if one.id == delivery), None)

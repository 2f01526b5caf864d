"""A delivery: one event on its way to one webhook, and when it is tried again."""

import msgspec

from om_api.domain.events import Event
from om_api.domain.learned import learned
from om_api.domain.webhooks.webhook import Webhook, place

ATTEMPTS = 8  # with the waits below over about a day
TEST = "test"  # kind of what is sent to try a webhook out
_FIRST_WAIT_S = 15
_TIMES = 4.0
_IN_ONE_MS = 4_096  # more than that a double beside Unix ms cannot tell apart
_SPREAD = 0.2  # of a wait, to both sides: what failed together is not tried again together


@learned
class Delivery(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """One event for one webhook: its id and kind, and `body` as it is sent; `error` is why the last attempt failed.

    `id` is the same at each attempt and another for any other delivery: by it a receiver knows what it has had already.
    `died_at` (Unix ms) is when it was given up.
    """

    id: str
    event: str
    kind: str
    body: str
    attempts: int = 0
    error: str = ""
    died_at: int = 0

    @property
    def order(self) -> float:
        """Where it stands among others, as a score: the event's ms, and its number within that."""
        ms, number = place(self.event)
        return ms + min(number, _IN_ONE_MS - 1) / _IN_ONE_MS


def delivery_of(webhook: Webhook, event: Event) -> Delivery:
    """An event for a webhook, as whoever asks over HTTP is given it; the same one each time this is asked."""
    name = f"msg_{webhook.id}_{event.id}_{event.kind}"
    return Delivery(id=name, event=event.id, kind=event.kind, body=msgspec.json.encode(event).decode())


def wait_s(attempts: int, chance: float) -> float | None:
    """Seconds until a delivery that failed so often is tried again: 15, then four times as long each time; None: no more.

    `chance`, from 0 to 1, spreads them by a fifth to both sides.
    """
    if attempts >= ATTEMPTS:
        return None
    return _FIRST_WAIT_S * _TIMES ** (attempts - 1) * (1 + _SPREAD * (2 * chance - 1))

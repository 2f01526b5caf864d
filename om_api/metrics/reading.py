"""One look at everything that monitoring sees: how full memories are, what was counted, what waits, who works."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from om_api import accounts, casting
from om_api.store import breaker, due, events, health, measuring

if TYPE_CHECKING:
    from om_api.costs import Left
    from om_api.settings import Settings
    from om_api.store.breaker import State
    from om_api.store.health import Waiting
    from om_api.store.keys import Keys
    from om_api.store.measuring import Elsewhere, Tiers
    from om_api.store.presence import Ticked
    from om_api.store.steps import Steps

Counted = dict[str, int]
MODELS = 200  # models of which one look shows the breaker


class Broker(NamedTuple):
    """How many tasks wait in each queue; none where the broker, which is a Redis, did not answer."""

    queues: dict[str, int] | None


class Reading(NamedTuple):
    """What one look found; `now` in server ms.

    `own` and `every` are the counters of resources with a label of their own, and of everybody together; there is no
    `broker` where it is none that can be asked.
    """

    now: int
    own: dict[str, Counted]
    every: Counted
    tiers: dict[str, Tiers]
    elsewhere: Elsewhere
    budgets: list[tuple[str, Left]]
    waiting: list[Waiting]
    ticks: dict[str, Ticked | None]
    breakers: dict[str, State]
    workers: int
    broker: Broker | None = None


def read(settings: Settings, keys: Keys) -> Steps[Reading]:
    """Look once. Raises StoreError when the store is away."""
    now = yield from due.server_ms()
    resources = yield from events.measured(keys)
    *own, every = yield from events.counted(keys, [*resources, None])
    return Reading(
        now=now,
        own=dict(zip(resources, own, strict=True)),
        every=every,
        tiers=(yield from measuring.tiers(keys, resources)),
        elsewhere=(yield from measuring.elsewhere(keys, resources)),
        budgets=(yield from accounts.standing(settings, keys, resources, now)),
        waiting=(yield from health.waiting(keys)),
        ticks=(yield from health.ticks(keys)),
        breakers=(yield from breaker.states(keys, casting.known(settings)[:MODELS])),
        workers=len((yield from health.workers(keys))),
    )

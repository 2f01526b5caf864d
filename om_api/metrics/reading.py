"""One look at everything that monitoring sees: how full memories are, what was counted, what waits, who works."""

from __future__ import annotations

from typing import NamedTuple

from om_api.billing import budgets, models_in_use
from om_api.billing.costs import Left
from om_api.settings import Settings
from om_api.store.driver.steps import Steps
from om_api.store.fleet import breaker, event_stream, health, resource_summaries
from om_api.store.fleet.breaker import BreakerState
from om_api.store.fleet.health import Waiting
from om_api.store.fleet.presence import Ticked
from om_api.store.fleet.resource_summaries import Elsewhere, Tiers
from om_api.store.memory import due
from om_api.store.memory.keys import Keys

Counted = dict[str, int]
MODELS = 200  # models of which one look shows the breaker


class Broker(NamedTuple):
    """How many tasks wait in each queue; none where the broker, which is a Redis, did not answer."""

    queues: dict[str, int] | None


class Measurements(NamedTuple):
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
    breakers: dict[str, BreakerState]
    workers: int
    broker: Broker | None = None


def read(settings: Settings, keys: Keys) -> Steps[Measurements]:
    """Look once. Raises StoreError when the store is away."""
    now = yield from due.server_ms()
    resources = yield from event_stream.measured(keys)
    *own, every = yield from event_stream.counted(keys, [*resources, None])
    return Measurements(
        now=now,
        own=dict(zip(resources, own, strict=True)),
        every=every,
        tiers=(yield from resource_summaries.tiers(keys, resources)),
        elsewhere=(yield from resource_summaries.elsewhere(keys, resources)),
        budgets=(yield from budgets.remaining(settings, keys, resources, now)),
        waiting=(yield from health.waiting(keys)),
        ticks=(yield from health.ticks(keys)),
        breakers=(yield from breaker.states(keys, models_in_use.with_breaker(settings)[:MODELS])),
        workers=len((yield from health.workers(keys))),
    )

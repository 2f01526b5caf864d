"""What agents held, cost and served in days gone by, noted as workers and clients would have noted it then."""

import time
from collections.abc import Mapping
from types import SimpleNamespace
from typing import Any

from world import World

from om_api.billing.prices import MICROS
from om_api.store.fleet import samples, spending
from om_api.store.fleet.samples import TEN_MINUTES, TierSample

_DAY_S = 86_400


def _ms(days_ago: float) -> int:
    return round((time.time() - days_ago * _DAY_S) * 1000)


def billed(world: World, resource: str, model: str, dollars: Mapping[int, float], purpose: str = "observe") -> None:
    """Note what a model cost, by how many days ago that was: 20 calls a day, of 2,000 tokens each, half of them cached."""
    keys = world.services.keys
    for ago, cost in dollars.items():
        day, micros = spending.day_of(_ms(ago)), round(cost * MICROS)
        bill = {"micros": micros, "calls": 20, "input": 40_000, "cached": 20_000, "output": 8_000}
        totals = {"all|micros": micros, "all|calls": 20, "all|tokens": 48_000}
        for key in (keys.spent_by(day, resource), keys.spent(day)):
            for name, amount in [*((spending.field(model, purpose, what), n) for what, n in bill.items()),
                *totals.items()]:  # fmt: skip
                world.client.hincrby(key, name, amount)
            world.client.expire(key, spending.KEPT_S)
        world.client.zincrby(keys.spenders(day), micros, resource)
        world.client.expire(keys.spenders(day), spending.KEPT_S)


def served(world: World, resource: str, days_ago: int, **amounts: int) -> None:
    """Note what contexts took on a day: `contexts`, `tokens`, `cached`, `raw`, `raw_cached`."""
    clock: Any = SimpleNamespace(ms=lambda: _ms(days_ago))
    world.services.run(spending.tell(world.services.keys, clock, {resource: amounts}))


def held(world: World, resource: str | None, days: int) -> None:
    """Note every ten minutes of the last days what an agent, or all together (None), held: notes grow, then are condensed."""
    for n in range(days * 144):
        notes, kept = 2_000 + 300 * (n % 100), 3_000 + 40 * (n // 100)
        taken = TierSample(messages=6_000 + 1_500 * (n % 8), chunks=2_000 * (n % 3), observations=notes,
            reflections=kept, observed=(notes + kept) * (6 + n // 200), micros=900 * n, contexts=2 * n,
            tokens=50_000 * n, cached=42_000 * n, raw=80_000 * n + 200 * n * n,
            raw_cached=70_000 * n + 190 * n * n)  # fmt: skip
        at = _ms((days * 144 - n) / 144)
        world.services.run(samples.add(world.services.keys, [TEN_MINUTES], at, {resource: taken}))

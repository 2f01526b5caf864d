"""Tokens by tier, compression, costs and savings over time, out of the samples that workers take."""

from collections.abc import Sequence
from itertools import pairwise

import msgspec

from om_api.billing import budgets, costs, prices
from om_api.billing.costs import CACHED
from om_api.billing.prices import MICROS, TokenPrices
from om_api.domain.errors import InvalidInputError
from om_api.domain.values import shown
from om_api.settings import Settings
from om_api.store.driver.steps import Steps
from om_api.store.fleet import samples
from om_api.store.fleet.samples import HOUR, TEN_MINUTES, Sampled, TierSample
from om_api.store.memory import due
from om_api.store.memory.keys import Keys

DAYS = 400
POINTS = 1_000  # most of one answer
_FINE_DAYS = 30  # for which there is a sample every ten minutes
_DAY_MS = 86_400_000
_COUNTED = ("micros", "contexts", "tokens", "cached", "raw", "raw_cached")


class UsagePoint(msgspec.Struct, frozen=True, kw_only=True):
    """How much there was at a time (Unix ms), and what was served and paid since the point before.

    Tokens by tier, those of all agents together being those of the `measured` ones. `compression` is how many tokens of
    messages stand behind one of notes, None without notes. `cost` of models in dollars; tokens of the contexts served, and of
    the raw history that they stand for. `saved_dollars` is reckoned against that history with its provider's cache, None
    without prices of the actor's model.
    """

    at: int
    agents: int
    measured: int
    message_tokens: int
    chunk_tokens: int
    observation_tokens: int
    reflection_tokens: int
    compression: float | None
    cost: float
    contexts: int
    served_tokens: int
    history_tokens: int
    saved_dollars: float | None


class UsageSeries(msgspec.Struct, frozen=True, kw_only=True):
    """Points of one resource, or (None) of all together, oldest first; samples are taken every `step` seconds.

    Of a resource there is a point only where something changed: each stands until the next one. A resource that is not
    measured apart has none.
    """

    resource: str | None
    step: int
    points: tuple[UsagePoint, ...]


def series(settings: Settings, keys: Keys, resource: str | None, days: int) -> Steps[UsageSeries]:
    """The last `days` days, in 1,000 points at most; raises InvalidInputError for days of which nothing is kept."""
    if not 1 <= days <= DAYS:
        raise InvalidInputError(f"days is {shown(days)}; permitted: 1 to {DAYS}, for as long as samples are kept")
    step = TEN_MINUTES if days <= _FINE_DAYS else HOUR
    since = (yield from due.server_ms()) - days * _DAY_MS
    found = yield from samples.between(keys, step, resource, since)
    rates = prices.rates(budgets.actor_of(settings, resource), settings.models)
    points = [_point(before, each, rates) for before, each in pairwise(_thinned(found, since))]
    return UsageSeries(resource=resource, step=step, points=tuple(points))


def _thinned(found: Sequence[Sampled], since: int) -> list[Sampled]:
    """At most so many samples, the newest among them, behind one from which the first is counted.

    What was so before the time that is asked for is told too, if it is known: it stood until the first sample.
    """
    if not found:
        return []
    rest = [each for each in found if each.at >= since]
    every = max(1, -(-len(rest) // POINTS))
    before = [found[0]] * (found[0].at < since)
    return [found[0], *before, *rest[::-1][::every][::-1]]


def _point(before: Sampled, now: Sampled, rates: TokenPrices | None) -> UsagePoint:
    sample, since = now.sample, _since(before.sample, now.sample)
    notes, cost = sample.observations + sample.reflections, since["micros"] / MICROS
    savings = costs.savings(since, rates, cost)
    return UsagePoint(
        at=now.at,
        agents=sample.agents,
        measured=sample.measured,
        message_tokens=sample.messages,
        chunk_tokens=sample.chunks,
        observation_tokens=sample.observations,
        reflection_tokens=sample.reflections,
        compression=round(sample.observed / notes, 2) if notes else None,
        cost=cost,
        contexts=since["contexts"],
        served_tokens=since["tokens"],
        history_tokens=since["raw"],
        saved_dollars=next((each.saved_dollars for each in savings if each.baseline == CACHED), None),
    )


def _since(before: TierSample, now: TierSample) -> dict[str, int]:
    """What was counted between two samples; a counter that is less than it was began anew."""
    pairs = {name: (getattr(before, name), getattr(now, name)) for name in _COUNTED}
    return {name: last - first if last >= first else last for name, (first, last) in pairs.items()}

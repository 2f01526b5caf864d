"""What happened since counting began: from counters to samples, of resources with a label of their own and of the others."""

from collections import Counter
from collections.abc import Iterator, Mapping
from functools import cache
from itertools import accumulate
from typing import get_args

from om_api.billing import budgets, costs, prices
from om_api.billing.prices import MICROS, TokenPrices
from om_api.domain.errors import Why
from om_api.domain.events import BOUNDS, UnusableWhy, bucket
from om_api.metrics.series import OTHER, Histogram, Sample
from om_api.redaction.placeholders import KINDS
from om_api.settings import Settings

Counted = dict[str, int]
_MICRO = 1_000_000
_AMOUNTS = {
    "cortex_om_observations_created_total": "observations",
    "cortex_om_reflections_created_total": "reflections",
    "cortex_om_quarantined_total": "quarantined",
    "cortex_om_quarantine_dropped_total": "trimmed",
    "cortex_om_crashes_total": "crashed",
    "cortex_om_marked_lines_total": "marked",
    "cortex_om_pushes_refused_total": "refused",
    "cortex_om_messages_ahead_total": "ahead",
    "cortex_om_contexts_total": "served|contexts",
    "cortex_om_context_tokens_total": "served|tokens",
}
_WHO = ("observer", "reflector")


class Others:
    """The counters of everybody without a label of their own: those of all together, without the measured ones.

    Time 0: we read harold's counters. Time 1: a worker counts for harold. Time 2: we read those of all. The difference is
    one too many, and at the next look one less: Prometheus would take that for a counter that began anew. So it never
    falls, unless the store was emptied.
    """

    def __init__(self) -> None:
        self._every: Counted = {}
        self._last: Counted = {}

    def of(self, own: Mapping[str, Counted], every: Counted) -> Counted:
        """What one look says of them."""
        sums: Counter[str] = Counter()
        for counted in own.values():
            sums.update(counted)
        last = {name: amount for name, amount in self._last.items() if every.get(name, 0) >= self._every[name]}
        self._last = {name: max(0, amount - sums[name], last.get(name, 0)) for name, amount in every.items()}
        self._every = dict(every)
        return self._last


def of_counters(own: Mapping[str, Counted], others: Counted, settings: Settings) -> Iterator[Sample]:
    """Every counter of measured resources and of the others, also those that are still 0."""
    rates = cache(lambda actor: prices.rates(actor, settings.models))  # many agents name one model
    for resource, counted in own.items():
        yield from _of(resource, counted, rates(budgets.actor_of(settings, resource)))
    yield from _of(OTHER, others, rates(budgets.actor_of(settings, None)))


def _of(resource: str, counted: Counted, rates: TokenPrices | None) -> Iterator[Sample]:
    for series, field in _AMOUNTS.items():
        yield Sample(series, (resource,), counted.get(field, 0))
    for who in _WHO:
        yield Sample(f"cortex_om_{who}_cost_total", (resource,), counted.get(f"micros|{who}", 0) / MICROS)
        yield Sample(f"cortex_om_{who}_duration_seconds", (resource,), _durations(counted, who))
    for kind in KINDS:
        yield Sample("cortex_om_redacted_total", (resource, kind), counted.get(f"redacted|{kind}", 0))
    for kind in get_args(Why):
        yield Sample("cortex_om_failures_total", (resource, kind), counted.get(f"failed|{kind}", 0))
    for kind in get_args(UnusableWhy):
        yield Sample("cortex_om_unusable_answers_total", (resource, kind), counted.get(f"unusable|{kind}", 0))
    if tokens := counted.get("served|tokens", 0):
        yield Sample("cortex_om_prefix_stable_share", (resource,), counted.get("served|cached", 0) / tokens)
    if (saved := _saved(counted, rates)) is not None:
        yield Sample("cortex_om_cost_savings_total", (resource,), saved)


def _durations(counted: Counted, who: str) -> Histogram:
    bounds = {**{bucket(bound): str(float(bound)) for bound in BOUNDS}, bucket(float("inf")): "+Inf"}
    sums = accumulate(counted.get(f"{who}|le|{field}", 0) for field in bounds)
    return Histogram(tuple(zip(bounds.values(), sums, strict=True)), counted.get(f"{who}|seconds_sum", 0) / _MICRO)


def _saved(counted: Counted, rates: TokenPrices | None) -> float | None:
    """Dollars, beside a raw history that the provider caches; None while nobody told of contexts, or knows the price."""
    memory = sum(counted.get(f"micros|{who}", 0) for who in _WHO) / MICROS
    found = costs.savings(costs.served([counted]), rates, memory)
    return next((each.saved_dollars for each in found if each.baseline == costs.CACHED), None)

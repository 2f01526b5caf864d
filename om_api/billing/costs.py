"""What models cost, what is left of budgets, and what a memory saves: from what was counted to figures, without asking anyone."""

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence

import msgspec

from om_api.billing.prices import MICROS, TokenPrices
from om_api.settings.memory_settings import BudgetSettings
from om_api.store.fleet.spending import DAY_MS, Counted, Most, parse

UNCACHED = "raw history, uncached"
CACHED = "raw history, provider-cached"
_TOLD = ("input", "cached", "output", "unpriced", "estimated")


class CostLine(msgspec.Struct, frozen=True, kw_only=True):
    """One model's calls for one purpose on one UTC day; `cost` in dollars is None where no call's price is known.

    `input` includes `cached`. `unpriced` calls are counted in tokens only: the cost is that of the others. Of `estimated`
    calls nobody said what they took: it was counted in their texts.
    """

    day: str
    model: str
    purpose: str
    calls: int = 0
    failed: int = 0
    input: int = 0
    cached: int = 0
    output: int = 0
    cost: float | None = None
    unpriced: int = 0
    estimated: int = 0


class Left(msgspec.Struct, frozen=True, kw_only=True):
    """What is left today of one budget: `setting` (budget.calls_per_day, …), its limit, and what counts against it.

    Calls in flight count as they were reserved. `then` is what happens once it is `reached`. `lasts_until` (Unix ms) is when
    it will be used up if the day goes on as it went so far; None if not today.
    """

    setting: str
    limit: float
    used: float
    left: float
    reached: bool
    then: str
    lasts_until: int | None = None


class Saving(msgspec.Struct, frozen=True, kw_only=True):
    """What contexts cost beside a baseline that answers the same calls; dollars are None without prices of the actor's model.

    `saved_tokens` is baseline minus served; `saved_dollars` takes off what the memory's own models cost, too.
    """

    baseline: str
    baseline_tokens: int
    baseline_cached: int
    served_tokens: int
    served_cached: int
    saved_tokens: int
    baseline_dollars: float | None = None
    served_dollars: float | None = None
    memory_dollars: float = 0.0
    saved_dollars: float | None = None


class Costs(msgspec.Struct, frozen=True, kw_only=True):
    """What a resource's models (None: everybody's) cost from one UTC day to another, and what its contexts saved.

    `cost` in dollars leaves out the `unpriced` calls, and takes the `estimated` ones by their texts. `open` calls are in
    flight, or their worker died.
    """

    resource: str | None
    first: str
    last: str
    lines: tuple[CostLine, ...]
    cost: float
    calls: int
    unpriced: int
    open: int
    contexts: int
    actor_model: str | None
    savings: tuple[Saving, ...] = ()
    budgets: tuple[Left, ...] = ()
    estimated: int = 0


def lines(day: str, counted: Counted) -> list[CostLine]:
    """The bill of one day, by model and purpose."""
    bills: dict[tuple[str, str], dict[str, int]] = {}
    for name, amount in counted.items():
        if found := parse(name):
            bills.setdefault(found[:2], {})[found[2]] = amount
    return [_line(day, model, purpose, bill) for (model, purpose), bill in sorted(bills.items())]


def _line(day: str, model: str, purpose: str, bill: Mapping[str, int]) -> CostLine:
    tokens = {what: bill.get(what, 0) for what in ("calls", "failed", *_TOLD)}
    known = tokens["calls"] > tokens["unpriced"]
    return CostLine(
        day=day, model=model, purpose=purpose, **tokens, cost=bill.get("micros", 0) / MICROS if known else None
    )


def served(days: Iterable[Counted]) -> Counter[str]:
    """What clients served in all, by what."""
    sums: Counter[str] = Counter()
    for counted in days:
        told = {name: amount for name, amount in counted.items() if name.startswith("served|")}
        sums.update({name.partition("|")[2]: amount for name, amount in told.items()})
    return sums


def savings(sums: Mapping[str, int], rates: TokenPrices | None, memory: float) -> tuple[Saving, ...]:
    """The contexts that were served beside both baselines; `memory` is what its models cost, in dollars.

    Like is held against like: without any cache both sides pay for every token as fresh; with the provider's cache both
    sides pay the cached price for what was sent before in the same place.
    """
    if not sums.get("contexts"):
        return ()
    return (_saving(UNCACHED, sums, rates, memory, cache=False), _saving(CACHED, sums, rates, memory, cache=True))


def _saving(name: str, sums: Mapping[str, int], rates: TokenPrices | None, memory: float, *, cache: bool) -> Saving:
    raw, sent = sums.get("raw", 0), sums.get("tokens", 0)
    raw_cached, sent_cached = (sums.get("raw_cached", 0), sums.get("cached", 0)) if cache else (0, 0)
    would = rates.dollars(raw - raw_cached, raw_cached) if rates else None
    did = rates.dollars(sent - sent_cached, sent_cached) if rates else None
    return Saving(
        baseline=name,
        baseline_tokens=raw,
        baseline_cached=raw_cached,
        served_tokens=sent,
        served_cached=sent_cached,
        saved_tokens=raw - sent,
        baseline_dollars=would,
        served_dollars=did,
        memory_dollars=memory,
        saved_dollars=None if would is None or did is None else would - did - memory,
    )


def left(group: str, budget: BudgetSettings, used: Most, now: int = 0) -> Iterator[Left]:
    """What is left of each limit that a budget states; `used` is what counts against it by `now` (server ms; 0: no matter)."""
    spent = {"calls": used.calls, "tokens": used.tokens, "dollars": (used.micros or 0) / MICROS}
    limits = {"calls": budget.calls_per_day, "tokens": budget.tokens_per_day, "dollars": budget.dollars_per_day}
    for what, limit in limits.items():
        if limit is not None:
            much = spent[what] or 0
            yield Left(
                setting=f"{group}.{what}_per_day",
                limit=limit,
                used=much,
                left=max(0, limit - much),
                reached=much >= limit,
                then=budget.then,
                lasts_until=_lasts_until(limit, much, now),
            )


def _lasts_until(limit: float, used: float, now: int) -> int | None:
    """When at the pace of this UTC day a limit is reached that is not reached yet; None if not on this day."""
    passed = now % DAY_MS
    if not passed or not 0 < used < limit:
        return None
    until = now + round(passed * (limit / used - 1))
    return until if until < now - passed + DAY_MS else None


def costs(
    resource: str | None,
    days: Sequence[str],
    counted: Sequence[Counted],
    rates: TokenPrices | None,
    actor_model: str | None,
    budgets: Iterable[Left],
) -> Costs:
    """Everything that is to be said of some days, each with what was counted on it."""
    found = [line for day, each in zip(days, counted, strict=True) for line in lines(day, each)]
    cost, sums = sum(line.cost or 0 for line in found), served(counted)
    return Costs(
        resource=resource,
        first=days[0],
        last=days[-1],
        lines=tuple(found),
        cost=cost,
        calls=sum(line.calls for line in found),
        unpriced=sum(line.unpriced for line in found),
        estimated=sum(line.estimated for line in found),
        open=sum(name.startswith("open|") for each in counted for name in each),
        contexts=sums["contexts"],
        actor_model=actor_model,
        savings=savings(sums, rates, cost),
        budgets=tuple(budgets),
    )

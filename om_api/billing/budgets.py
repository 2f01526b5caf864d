"""Reading what was counted: today's cost and budgets of a resource, the costs of some days, whose budget is used up."""

from collections.abc import Iterable, Sequence
from typing import NamedTuple

from om_api.billing import costs as figures
from om_api.billing import prices
from om_api.billing.costs import Costs, Left
from om_api.domain.errors import InvalidInputError
from om_api.domain.values import shown
from om_api.settings import Settings
from om_api.store.driver.steps import Steps, if_permitted
from om_api.store.fleet import spending
from om_api.store.fleet.spending import Most
from om_api.store.memory import due
from om_api.store.memory.keys import Keys

DAYS = 400  # as long as bills are kept
ALL = "all agents"  # no resource can be called so


class Today(NamedTuple):
    """What a resource's models cost today, in dollars, and the settings of the budgets that are used up."""

    cost: float
    reached: tuple[str, ...]


class UsedUp(NamedTuple):
    """A budget that is used up today, and of how many agents."""

    agents: tuple[str, ...]
    budget: Left


def today(settings: Settings, keys: Keys, resource: str, now: int) -> Steps[Today]:
    """How a resource stands on the UTC day of `now` (server ms)."""
    day = spending.day_of(now)
    (counted,) = yield from spending.read(keys, [day], resource)
    budgets = yield from of(settings, keys, resource, now)
    cost = sum(line.cost or 0 for line in figures.lines(day, counted))
    return Today(cost, tuple(budget.setting for budget in budgets if budget.reached))


def of(settings: Settings, keys: Keys, resource: str, now: int) -> Steps[list[Left]]:
    """What is left of a resource's budgets, its own first, on the UTC day of `now` (server ms)."""
    return _left(settings, keys, resource, now)


def of_all(settings: Settings, keys: Keys, now: int) -> Steps[list[Left]]:
    """What is left of the budgets of all agents together, on the UTC day of `now` (server ms)."""
    return _total(settings, keys, now)


def costs(settings: Settings, keys: Keys, resource: str | None, days: int) -> Steps[Costs]:
    """The last `days` UTC days, today included, of a resource or of all; raises InvalidInputError for days not kept."""
    if not 1 <= days <= DAYS:
        raise InvalidInputError(f"days is {shown(days)}; permitted: 1 to {DAYS}, for as long as bills are kept")
    now = yield from due.server_ms()
    listed = spending.days_before(now, days)
    counted = yield from spending.read(keys, listed, resource)
    budgets = yield from _left(settings, keys, resource, now)
    actor = actor_of(settings, resource)
    rates = prices.rates(actor, settings.models)
    return figures.costs(resource, listed, counted, rates, actor, budgets)


def remaining(settings: Settings, keys: Keys, resources: Iterable[str], now: int) -> Steps[list[tuple[str, Left]]]:
    """What is left of every budget of some resources, and of all agents' (ALL), on the UTC day of `now` (server ms)."""
    day = spending.day_of(now)
    bounded = [name for name in resources if any(figures.left("budget", settings.for_agent(name).budget, Most()))]
    spent = yield from spending.counted(keys, day, bounded)
    own = [
        (name, each)
        for name, used in zip(bounded, spent, strict=True)
        for each in figures.left("budget", settings.for_agent(name).budget, used, now)
    ]
    return [*own, *((ALL, each) for each in (yield from _total(settings, keys, now)))]


def used_up(settings: Settings, keys: Keys, resources: Iterable[str], now: int) -> Steps[list[UsedUp]]:
    """Every budget that is used up on the UTC day of `now` (server ms), with the agents it stops."""
    found: dict[tuple[object, ...], UsedUp] = {}
    for name, each in (yield from remaining(settings, keys, resources, now)):
        if each.reached:
            alike = (each.setting, each.limit, each.then)
            found[alike] = UsedUp((*(found[alike].agents if alike in found else ()), name), each)
    return list(found.values())


def _left(settings: Settings, keys: Keys, resource: str | None, now: int) -> Steps[list[Left]]:
    if resource is None:
        return (yield from _total(settings, keys, now))
    total = yield from if_permitted(_total(settings, keys, now), [])  # what all agents use is not every agent's to know
    (used,) = yield from spending.counted(keys, spending.day_of(now), [resource])
    return [*figures.left("budget", settings.for_agent(resource).budget, used, now), *total]


def _total(settings: Settings, keys: Keys, now: int) -> Steps[list[Left]]:
    used: Sequence[Most] = yield from spending.counted(keys, spending.day_of(now), [None])
    return list(figures.left("total_budget", settings.memory.total_budget, used[0], now))


def actor_of(settings: Settings, resource: str | None) -> str | None:
    """The model whose prices hold; None for all agents together while they name different ones."""
    if resource is not None:
        return settings.for_agent(resource).actor_model
    named = {settings.memory.actor_model, *(settings.for_agent(name).actor_model for name in settings.agents())}
    return next(iter(named)) if len(named) == 1 else None

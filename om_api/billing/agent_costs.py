"""What each agent's models cost: those that cost most, without looking at the others."""

from collections.abc import Iterable, Sequence

import msgspec

from om_api.billing import budgets, prices
from om_api.billing import costs as figures
from om_api.billing.costs import CACHED, Costs, Left
from om_api.domain.errors import InvalidInputError
from om_api.domain.values import shown
from om_api.settings import Settings
from om_api.store.driver.steps import Steps
from om_api.store.fleet import spending
from om_api.store.memory import due
from om_api.store.memory.keys import Keys

DAYS = 31  # most of one answer
AGENTS = 100


class AgentCosts(msgspec.Struct, frozen=True, kw_only=True):
    """What one agent's models cost in some days, what is left of its budgets today, and what its contexts saved.

    What was saved is reckoned against the raw history with its provider's cache; dollars are None without prices of the actor's
    model. `unpriced` calls cost what nobody knows.
    """

    resource: str
    cost: float
    calls: int
    input: int
    output: int
    unpriced: int
    contexts: int
    saved_tokens: int
    saved_dollars: float | None
    budgets: tuple[Left, ...] = ()


class CostsByAgent(msgspec.Struct, frozen=True, kw_only=True):
    """The agents whose models cost most from one UTC day to another, the costliest first, and the `cost` of all (dollars).

    Of each day the 1,000 costliest are known, of many days fewer: who is in none of these is not told.
    """

    first: str
    last: str
    cost: float
    agents: tuple[AgentCosts, ...]


def costs_by_agent(
    settings: Settings, keys: Keys, days: int, limit: int, among: Sequence[str] | None
) -> Steps[CostsByAgent]:
    """The costliest agents of the last `days` UTC days, today included; `among` some, of whom the cost is told then.

    Raises InvalidInputError for more days or agents than are told at once.
    """
    if not 1 <= days <= DAYS:
        raise InvalidInputError(f"days is {shown(days)}: use 1 to {DAYS} for costs by agent")
    if not 1 <= limit <= AGENTS:
        raise InvalidInputError(f"limit is {shown(limit)}: use 1 to {AGENTS}")
    now = yield from due.server_ms()
    listed = spending.days_before(now, days)
    names = (yield from spending.costliest(keys, listed))[:limit] if among is None else among
    found = yield from _each(settings, keys, listed, names, now)
    total = sum(each.cost for each in found)
    if among is None:
        every = yield from spending.read(keys, listed)
        total = sum(
            line.cost or 0 for day, each in zip(listed, every, strict=True) for line in figures.lines(day, each)
        )
    first = sorted(found, key=lambda each: (-each.cost, each.resource))[:limit]
    return CostsByAgent(
        first=listed[0], last=listed[-1], cost=total, agents=tuple(each for each in first if each.calls)
    )


def _each(
    settings: Settings, keys: Keys, listed: Sequence[str], names: Iterable[str], now: int
) -> Steps[list[AgentCosts]]:
    found: list[AgentCosts] = []
    for name in names:
        counted = yield from spending.read(keys, listed, name)
        actor = budgets.actor_of(settings, name)
        own = figures.left("budget", settings.for_agent(name).budget, spending.used_of(counted[-1]), now)
        bill = figures.costs(name, listed, counted, prices.rates(actor, settings.models), actor, own)
        found.append(_told(name, bill))
    return found


def _told(name: str, bill: Costs) -> AgentCosts:
    saved = next((each for each in bill.savings if each.baseline == CACHED), None)
    return AgentCosts(
        resource=name,
        cost=bill.cost,
        calls=bill.calls,
        input=sum(line.input for line in bill.lines),
        output=sum(line.output for line in bill.lines),
        unpriced=bill.unpriced,
        contexts=bill.contexts,
        saved_tokens=saved.saved_tokens if saved else 0,
        saved_dollars=saved.saved_dollars if saved else None,
        budgets=bill.budgets,
    )

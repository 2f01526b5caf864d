"""The ledger: counts every call of a model before it is made, bills it afterwards, and refuses what no budget permits."""

from collections.abc import Iterable
from contextlib import suppress
from typing import NamedTuple

import structlog

from om_api.billing import prices
from om_api.billing.prices import MICROS, Tokens
from om_api.domain.caching import LRU
from om_api.domain.errors import BudgetReachedError, StoreError
from om_api.domain.timing.chance import chance
from om_api.domain.values import new_id
from om_api.settings import Settings
from om_api.settings.memory_settings import BudgetSettings
from om_api.store.driver.connection import Connection
from om_api.store.fleet import spending
from om_api.store.fleet.spending import DAY_MS, Most, Need, Reserved
from om_api.store.memory.keys import Keys
from om_api.store.memory.push import ServerClock
from om_workers.llm.base import Purpose, Usage
from om_workers.process.event_publisher import EventPublisher

WARNED = 1_000  # models
TOLD = 4_096  # budgets
_LONGEST_WAIT_S = 300.0  # a budget that was raised is noticed within minutes
_log = structlog.get_logger("om_workers")


class LedgerEntry(NamedTuple):
    """One call that was counted and is not yet billed; `id` is '' for what is counted nowhere."""

    id: str
    resource: str
    purpose: Purpose
    model: str
    day: str = ""
    expected: Tokens = Tokens(0)


class Ledger:
    """Usage, costs and budgets by agent, model, purpose and UTC day of the server's; threads and processes share them.

    Logs once for each model in use that its price is unknown, where a budget in dollars should bound it, and once a day
    for each budget that it is used up.
    """

    def __init__(self, settings: Settings, connection: Connection, keys: Keys, events: EventPublisher) -> None:
        self._settings = settings
        self._run = connection.run
        self._keys = keys
        self._events = events
        self._clock = ServerClock()
        self._warned: LRU[str, bool] = LRU(WARNED)
        self._told: LRU[tuple[str, str], str] = LRU(TOLD)  # whose budget of what -> the day on which it was used up
        self._warn(prices.unenforceable(settings))

    def open(self, resource: str, purpose: Purpose, model: str, tokens: int) -> LedgerEntry:
        """Count a call before it is made; `tokens` estimates its input, and its answer is reserved as much again.

        Raises BudgetReachedError when a budget of the resource ("": it is for none) or of all is used up: do not call then.
        Raises StoreError when the call could not be counted. What means no model is neither counted nor bounded.
        """
        models = self._settings.models
        if prices.is_extractive(model, models):
            return LedgerEntry("", resource, purpose, model)
        expected = Tokens(tokens, 0, tokens).sane()
        micros = prices.micros(model, models, expected)
        own = self._settings.for_agent(resource).budget if resource else BudgetSettings()
        total = self._settings.memory.total_budget
        if micros is None and (own.dollars_per_day is not None or total.dollars_per_day is not None):
            self._warn([model])
        need = Need(expected.input + expected.output, micros or 0)
        entry, limits = new_id(), (_most(own, micros), _most(total, micros))
        reserved = self._run(spending.reserve(self._keys, self._clock, resource, entry, need, *limits))
        if reserved.used_up:
            raise self._refused(reserved, resource, (total if reserved.of_all else own).then)
        return LedgerEntry(entry, resource, purpose, model, reserved.day, expected)

    def close(
        self, entry: LedgerEntry, usage: Usage | None, *, failed: bool = False, answer: int = 0, bounded: bool = True
    ) -> float | None:
        """Bill a call right after it, on the day it was opened: what it cost in dollars, None where no price is known.

        Without `usage` it failed and costs nothing, though it stays a call; with `failed` it failed, and the provider
        bills it all the same. A usage of nothing is one that the provider did not tell: the estimated input is billed, and
        `answer`, the tokens of what came back. What is not `bounded` is a call in the bill, and none against budgets. Raises
        nothing: when the store is away, what was reserved stays counted, for a figure is no reason to lose an answer that is
        paid for.
        """
        estimated = usage is not None and not (usage.input or usage.output)
        used = Tokens(entry.expected.input, 0, answer).sane() if estimated else _told(usage)
        micros = prices.micros(entry.model, self._settings.models, used)
        if entry.id:
            need = Need(used.input + used.output, micros or 0)
            unpriced = usage is not None and micros is None
            bill = _bill(entry, used, micros, failed=failed or usage is None, unpriced=unpriced, estimated=estimated)
            day, who = entry.day, entry.resource
            with suppress(StoreError):
                self._run(spending.settle(self._keys, day, who, entry.id, need, bill, calls=int(bounded)))
            self._events.billed(entry.resource, entry.purpose, micros)
        return None if micros is None else micros / MICROS

    def cancel(self, entry: LedgerEntry) -> None:
        """Count a call no longer that was not made after all. Raises nothing: at worst it stays counted."""
        if entry.id:
            with suppress(StoreError):
                self._run(spending.settle(self._keys, entry.day, entry.resource, entry.id, Need(), {}, calls=0))

    def _warn(self, models: Iterable[str]) -> None:
        for model in models:
            if model not in self._warned:
                self._warned.put(model, value=True)
                _log.warning("price_unknown", model=model, instead="no budget in dollars bounds it; state its prices")

    def _refused(self, reserved: Reserved, resource: str, then: str) -> BudgetReachedError:
        """The error, which asks to come back within minutes, not everybody in the same second."""
        what = "dollars" if reserved.used_up == "micros" else reserved.used_up
        group, whose = ("total_budget", "all agents") if reserved.of_all else ("budget", resource)
        setting, day = f"{group}.{what}_per_day", reserved.day
        if self._told.get((whose, setting)) != day:
            self._told.put((whose, setting), day)
            _log.warning("budget_reached", agent=whose, setting=setting, then=then)
            self._events.budget_reached("" if reserved.of_all else resource, setting, then, day)
        seconds = (DAY_MS - reserved.now % DAY_MS) / 1000
        text = (
            f"the budget of {whose} is used up for {day} ({setting}): no model was asked; raise it, "
            f"or wait {seconds / 3600:.1f} h for the next UTC day"
        )
        wait = min(seconds, _LONGEST_WAIT_S * chance.uniform(0.8, 1))
        return BudgetReachedError(text, retry_after=wait, instead="extractive" if then == "extractive" else None)


def _told(usage: Usage | None) -> Tokens:
    return Tokens(usage.input, usage.cached, usage.output).sane() if usage else Tokens(0)


def _most(budget: BudgetSettings, micros: int | None) -> Most:
    """A budget as the store counts; dollars bound only what has a price that is known and not nothing."""
    dollars = budget.dollars_per_day if micros else None
    return Most(budget.calls_per_day, budget.tokens_per_day, None if dollars is None else round(dollars * MICROS))


def _bill(entry: LedgerEntry, used: Tokens, micros: int | None, **told: bool) -> dict[str, int]:
    amounts = {
        "calls": 1,
        "input": used.input,
        "cached": used.cached,
        "output": used.output,
        "micros": micros or 0,
        **told,
    }
    return {spending.field(entry.model, entry.purpose, what): int(amount) for what, amount in amounts.items()}

"""Watching: how full memories are, what they cost, and what happened."""

import time
from collections.abc import Iterable, Sequence
from typing import NamedTuple

from om_api.billing import agent_costs, budgets
from om_api.billing.agent_costs import CostsByAgent
from om_api.billing.costs import Costs
from om_api.client.fleet import usage_series
from om_api.client.fleet.usage_series import UsageSeries
from om_api.client.reading import Scopes
from om_api.client.stats import Stats, stats_of
from om_api.domain import events
from om_api.domain.errors import InvalidInputError, StoreError
from om_api.domain.events import Told, Wanted
from om_api.domain.values import Scope, check_id, shown
from om_api.settings import Settings
from om_api.store.driver.steps import Steps, Wait
from om_api.store.driver.tolerant_read import of_each
from om_api.store.fleet import event_stream as stream
from om_api.store.fleet import resource_index
from om_api.store.memory import keyspace_scan, scope_state
from om_api.store.memory.keys import Keys

_AT_ONCE = 100  # events taken by who follows
_FOLLOW_S = 1.0


class Overview(NamedTuple):
    """How full the memories are that workers have met, by name; of `broken` ones keys hold what is not ours."""

    stats: list[Stats]
    broken: list[str]


class Watcher:
    """Looks at a store and changes nothing. `patience_s` bounds one wait for the store, which keeps a connection busy."""

    def __init__(self, settings: Settings, keys: Keys, scopes: Scopes, *, patience_s: float = 1.0) -> None:
        self._settings, self._keys, self._scopes, self._patience_s = settings, keys, scopes, patience_s

    def stats(self, resource: str) -> Steps[Stats]:
        """How full a resource's memory is, summed over its scopes."""
        scopes = yield from self._scopes.every(resource)
        looks = yield from scope_state.looks(self._keys, scopes or [Scope(resource)])
        side = yield from scope_state.side_view(self._keys, resource, looks)
        today = yield from budgets.today(self._settings, self._keys, resource, looks[0].now)
        return stats_of(self._settings, resource, looks, side, today)

    def each_stats(self, names: Sequence[str]) -> Steps[dict[str, Stats]]:
        """The same of some resources, by name; one whose keys hold what is not ours is left out, and hides no other one."""
        found: dict[str, Stats] = {}
        for name in names:
            found |= yield from of_each(self._alone, [name])
        return found

    def _alone(self, names: Sequence[str]) -> Steps[dict[str, Stats]]:
        (name,) = names
        return {name: (yield from self.stats(name))}

    def overview(self) -> Steps[Overview]:
        """The same of every resource the workers have met."""
        names = yield from self.resources()
        found = yield from self.each_stats(names)
        return Overview([*found.values()], [name for name in names if name not in found])

    def costs(self, resource: str | None, days: int) -> Steps[Costs]:
        """What models cost in the last `days` UTC days, of one resource or of all."""
        name = None if resource is None else check_id(resource, "resource_id")
        return budgets.costs(self._settings, self._keys, name, days)

    def costs_by_agent(self, days: int, limit: int, among: Iterable[str] | None) -> Steps[CostsByAgent]:
        """The agents whose models cost most in the last `days` UTC days, of all or of some."""
        names = None if among is None else sorted({check_id(name, "resource_id") for name in among})
        return agent_costs.costs_by_agent(self._settings, self._keys, days, limit, names)

    def series(self, resource: str | None, days: int) -> Steps[UsageSeries]:
        """Tokens by tier, compression, costs and savings over time, of one resource or of all together."""
        name = None if resource is None else check_id(resource, "resource_id")
        return usage_series.series(self._settings, self._keys, name, days)

    def resources(self) -> Steps[list[str]]:
        """Every resource the workers have met."""
        return sorted((yield from keyspace_scan.all_resources(self._keys)))

    def is_known(self, resource: str, thread: str | None) -> Steps[bool]:
        """Whether anything is kept of a resource."""
        named = yield from self._scopes.named(resource, thread or None)
        return (yield from resource_index.is_known(self._keys, resource, named))

    def events(self, after: str, wanted: Wanted, count: int, wait: float = 0) -> Steps[Told]:
        """Events behind an id, or the newest ones; where there is none, what comes within `wait` seconds."""
        if not 1 <= count <= events.MOST:
            raise InvalidInputError(f"count is {shown(count)}: use 1 to {events.MOST}")
        ends, place = time.monotonic() + wait, after and events.check_event_id(after)
        while True:
            if place:
                told = yield from stream.since(self._keys, place, wanted, count)
            else:
                told = yield from stream.newest(self._keys, wanted, count)
            place, left = told.after, ends - time.monotonic()
            if told.events or left <= 0:
                return told
            yield from stream.wait(self._keys, place, min(left, self._patience_s))

    def now(self) -> Steps[Told]:
        """No events, and the id behind which those stand that are still to come."""
        told = yield from stream.newest(self._keys, Wanted(), 1)
        return Told([], told.after)

    def next_events(self, after: str, wanted: Wanted) -> Steps[Told]:
        """The next events behind an id, if any come within a second; none while the store is away."""
        try:
            return (yield from self.events(after, wanted, _AT_ONCE, _FOLLOW_S))
        except StoreError:
            yield from Wait(_FOLLOW_S)
            return Told([], after)

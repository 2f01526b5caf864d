"""Forcing: having the workers observe or reflect now, whatever the thresholds, or do nothing for a while."""

from collections.abc import Sequence
from contextlib import suppress

from om_api.client import held
from om_api.client.held import Held, Work
from om_api.client.reading import Scopes
from om_api.client.reporting import Reporter
from om_api.domain.errors import InvalidInputError, StoreError
from om_api.domain.events import Event
from om_api.domain.values import Outcome, Scope, check_id
from om_api.settings import Settings
from om_api.store.driver.partitions import PartedIndex
from om_api.store.driver.replies import as_bytes
from om_api.store.driver.steps import Steps, Wait, each
from om_api.store.memory import due, requests, scope_state
from om_api.store.memory.keys import Keys
from om_api.store.memory.scope_state import ScopeState
from om_api.store.reviews import review_index

_POLL_S = 0.1


class Forcing:
    """Requests to the workers of one store; each stands until it is answered."""

    def __init__(self, settings: Settings, keys: Keys, scopes: Scopes, reporter: Reporter) -> None:
        self._settings, self._keys, self._scopes, self._reporter = settings, keys, scopes, reporter

    def observe(self, resource: str, thread: str | None, wait: float | None) -> Steps[Outcome]:
        """Have everything raw observed and activated, whatever the thresholds; `busy` while it is not done yet."""
        asked: list[tuple[Scope, str]] = []
        thread = yield from self._scopes.named(resource, thread)
        for scope in (yield from self._scopes.holding(resource, thread, hinted=True)):
            look = yield from scope_state.look(self._keys, scope)
            if look.paused:
                raise InvalidInputError(
                    f"{resource} is paused, nothing is observed: resume it first (om resume {resource})"
                )
            if (yield from self._has_raw(look, thread)):
                asked.append((scope, "force" if thread is None or scope.thread is not None else f"force:{thread}"))
        return (yield from self._ask(asked, self._keys.due_observe, wait, Outcome.ACTIVATED))

    def reflect(self, resource: str, thread: str | None, wait: float | None) -> Steps[Outcome]:
        """Have a scope's observations condensed now, whatever the thresholds; `busy` while it is not done yet."""
        asked: list[tuple[Scope, str]] = []
        thread = yield from self._scopes.named(resource, thread)
        for scope in (yield from self._scopes.holding(resource, thread, hinted=True)):
            look = yield from scope_state.look(self._keys, scope)
            if look.record.observation_count:
                asked.append((scope, "force-reflect"))
        done = yield from self._ask(asked, self._keys.due_reflect, wait, Outcome.REFLECTED)
        if done is Outcome.REFLECTED and (yield from review_index.of_scopes(self._keys, [scope for scope, _ in asked])):
            return Outcome.PROPOSED
        return done

    def held(self, resource: str, work: Work) -> Steps[Held | None]:
        """What keeps the workers from it; None where nothing does that can be seen from here."""
        return held.held(self._settings, self._keys, resource, work)

    def _has_raw(self, look: ScopeState, thread: str | None) -> Steps[bool]:
        own = {thread, look.scope.thread} - {None}
        if any(not own or name in own for name in (*(chunk.thread for chunk in look.chunks), *look.unsealed)):
            return True
        raw = yield from scope_state.raw_sets(self._keys, look.scope.resource, sorted(name for name in own if name))
        return any(each.members for each in raw.values())

    def _ask(
        self, asked: Sequence[tuple[Scope, str]], index: PartedIndex, wait: float | None, good: Outcome
    ) -> Steps[Outcome]:
        if not asked:
            return Outcome.REST
        for scope, field in asked:
            yield from requests.force(self._keys, scope, field)
        try:
            yield from due.mark(index, [scope for scope, _ in asked], urgent=True)
            return (yield from self._await(asked, wait, good))
        except StoreError as error:
            text = f"{error} The request stands, and is answered when the store is back: do nothing, or ask again."
            raise StoreError(text, stored=True) from error

    def _await(self, asked: Sequence[tuple[Scope, str]], wait: float | None, good: Outcome) -> Steps[Outcome]:
        of, waited = self._keys.of(asked[0][0].resource), 0.0
        while True:
            open_ = yield from each(as_bytes("HGET", of.record(scope), field) for scope, field in asked)
            if not any(open_):
                return good
            if wait is None or waited >= wait:
                return Outcome.BUSY
            yield from Wait(_POLL_S)
            waited += _POLL_S

    def pause(self, resource: str, *, on: bool) -> Steps[Outcome]:
        """Stop or resume whatever calls a model for a resource."""
        check_id(resource, "resource_id")
        changed = yield from requests.pause(self._keys, resource, on=on)
        if not on:
            with suppress(StoreError):  # it goes on; the sweep finds what a mark could not say
                scopes = yield from self._scopes.every(resource, hinted=True)
                yield from due.mark(self._keys.due_observe, scopes)
                yield from due.mark(self._keys.due_reflect, scopes)
        if changed:
            yield from self._reporter.publish(Event(kind="paused" if on else "resumed", resource=resource))
        return Outcome.REST

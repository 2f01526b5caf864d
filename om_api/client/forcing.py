"""Forcing: having the workers observe or reflect now, whatever the thresholds, or do nothing for a while."""

from collections.abc import Sequence
from contextlib import suppress

from om_api.client import held
from om_api.client.held import Held, Work
from om_api.client.reading import Scopes
from om_api.client.reporting import Reporter
from om_api.domain.errors import InvalidInputError, StoreError
from om_api.domain.events import Event
from om_api.domain.values import Outcome, Record, check_id
from om_api.settings import Settings
from om_api.store.driver.partitions import PartedIndex
from om_api.store.driver.replies import as_fields
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
        """Have everything raw observed and activated, whatever the thresholds; `busy` while it is not done yet.

        `superseded` if nothing was activated because the memory was cleared meanwhile.
        """
        asked: list[tuple[ScopeState, str]] = []
        thread = yield from self._scopes.named(resource, thread)
        for scope in (yield from self._scopes.holding(resource, thread, hinted=True)):
            look = yield from scope_state.look(self._keys, scope)
            if look.paused:
                raise InvalidInputError(
                    f"{resource} is paused, nothing is observed: resume it first (om resume {resource})"
                )
            if (yield from self._has_raw(look, thread)):
                asked.append((look, "force" if thread is None or scope.thread is not None else f"force:{thread}"))
        return (yield from self._ask(asked, self._keys.due_observe, wait, Outcome.ACTIVATED))

    def reflect(self, resource: str, thread: str | None, wait: float | None) -> Steps[Outcome]:
        """Have a scope's observations condensed now, whatever the thresholds; `busy` while it is not done yet."""
        asked: list[tuple[ScopeState, str]] = []
        thread = yield from self._scopes.named(resource, thread)
        for scope in (yield from self._scopes.holding(resource, thread, hinted=True)):
            look = yield from scope_state.look(self._keys, scope)
            if look.record.observation_count:
                asked.append((look, "force-reflect"))
        done = yield from self._ask(asked, self._keys.due_reflect, wait, Outcome.REFLECTED)
        if done is Outcome.REFLECTED and (
            yield from review_index.of_scopes(self._keys, [look.scope for look, _ in asked])
        ):
            return Outcome.PROPOSED
        return done

    def held(self, resource: str, work: Work) -> Steps[Held | None]:
        """What keeps the workers from it; None where nothing does that can be seen from here."""
        return held.held(self._settings, self._keys, resource, work)

    def _has_raw(self, look: ScopeState, thread: str | None) -> Steps[bool]:
        own = {thread, look.scope.thread} - {None}
        if any(not own or name in own for name in (*(chunk.thread for chunk in look.chunks), *look.unsealed)):
            return True
        waiting = sorted(name for name in own if name and name not in look.forgetful)
        raw = yield from scope_state.raw_sets(self._keys, look.scope.resource, waiting)
        return any(each.members for each in raw.values())

    def _ask(
        self, asked: Sequence[tuple[ScopeState, str]], index: PartedIndex, wait: float | None, good: Outcome
    ) -> Steps[Outcome]:
        if not asked:
            return Outcome.REST
        for look, field in asked:
            yield from requests.force(self._keys, look.scope, field)
        try:
            yield from due.mark(index, [look.scope for look, _ in asked], urgent=True)
            return (yield from self._await(asked, wait, good))
        except StoreError as error:
            text = f"{error} The request stands, and is answered when the store is back: do nothing, or ask again."
            raise StoreError(text, stored=True) from error

    def _await(self, asked: Sequence[tuple[ScopeState, str]], wait: float | None, good: Outcome) -> Steps[Outcome]:
        of, waited = self._keys.of(asked[0][0].scope.resource), 0.0
        while True:
            now = yield from each(
                as_fields("HMGET", of.record(look.scope), field, "epoch", "observed_messages") for look, field in asked
            )
            if not any(request for request, *_ in now):
                did = any(_is_done(look.record, of_it, good) for (look, _), of_it in zip(asked, now, strict=True))
                return good if did else Outcome.SUPERSEDED
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


def _is_done(before: Record, now: Sequence[bytes | None], good: Outcome) -> bool:
    """Whether a request that is gone was answered, and not cleared with its memory or its messages."""
    _, epoch, observed = now
    if before.epoch and epoch != before.epoch.encode():
        return False
    return good is not Outcome.ACTIVATED or int(observed or 0) > before.observed_messages

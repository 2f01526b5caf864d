"""The sweep: makes every gap good. What pushes, tasks and dead workers left undone is found by looking, not by luck."""

from collections.abc import Callable, Sequence
from functools import partial
from typing import NamedTuple

import structlog

from om_api.domain import policy
from om_api.domain.policy import Limits
from om_api.domain.values import Outcome, Scope
from om_api.recall.analysis import VERSION
from om_api.settings import recorded_settings
from om_api.store.archiving import archivable, changing
from om_api.store.audit import mending
from om_api.store.backup import unused_values
from om_api.store.driver.steps import batch
from om_api.store.erasing import redacted
from om_api.store.fleet import repartition, resource_index
from om_api.store.index.reindex import reindex
from om_api.store.memory import clear, due, keyspace_scan, known, note, quarantine, reading, scope_state
from om_api.store.memory.adopt import adopt, older_members
from om_api.store.memory.scope_state import ScopeState
from om_api.store.reviews import review_index
from om_api.store.reviews.drafts import review_of
from om_api.store.threads import aliases
from om_workers.work.scope_worker import pressure_of
from om_workers.work.services import Services
from om_workers.work.sharing import Sharing
from om_workers.work.unreadable import Isolated

_HINTS = 1_000
_SLICES = 100  # of 1,000 keys each: a store of 100,000 keys is seen whole within a minute
_RESOURCES = 2_000
_REVIEWS = 1_000  # that should be decided by now
_CHUNKS = 200  # of one memory, indexed in one round
_LONGEST_PAUSE_MS = 3_600_000  # a reflection is put off by minutes at most, see retry_after and Ledger
_MENDED, _MENDED_MESSAGES = 5, 50_000  # memories repaired in one round, and the most messages of one
_log = structlog.get_logger("om_workers")


class Swept(NamedTuple):
    """What a sweep did."""

    adopted: int
    marked: int
    cleared: int
    failed: int


class Sweeper:
    """Adopts strays, marks what the due indexes forgot, clears what has been idle for too long."""

    def __init__(self, services: Services) -> None:
        self._services = services
        self._run = services.run
        self._mends = _MENDED

    def sweep(self) -> Swept:
        """One round, bounded: hints first, then slices of the key space, then resources, the longest neglected first."""
        keys, self._mends = self._services.keys, _MENDED
        self._run(repartition.go_on(keys))
        named = self._run(keyspace_scan.waiting_for_adoption(keys, _HINTS))
        hints = self._run(keyspace_scan.adoptable(keys, named))
        strays = self._run(keyspace_scan.stray_keys(keys, _SLICES))
        did = [self._alone(self.adopt, key) for key in dict.fromkeys([*hints, *strays])]
        now = self._run(due.server_ms())
        neglected = self._run(keyspace_scan.oldest_looked(keys, now, _RESOURCES))
        self._services.events.met(neglected, now)
        if self._services.settings.memory.archived:
            self._run(archivable.expect(keys, neglected, now))
        tended = [self._alone(self._tend, resource, now) for resource in neglected]
        self._run(review_index.mend(keys, now, _REVIEWS))
        return Swept(
            adopted=sum(outcome in {Outcome.SEALED, Outcome.REJECTED} for outcome in did),
            marked=tended.count(Outcome.BUSY),
            cleared=tended.count(Outcome.CLEARED),
            failed=[*did, *tended].count(Outcome.FAILED),
        )

    def _alone(self, work: Callable[..., Outcome], name: str, *rest: int) -> Outcome:
        """What one writer breaks hurts no other: log it, and go on with the next."""
        with Isolated("sweep_passed_over", name=name):
            return work(name, *rest)
        return Outcome.FAILED

    def adopt(self, key: str) -> Outcome:
        """Count what a plain ZADD left under a key, and mark its scope due; members of an older form move first."""
        parsed = self._services.keys.parse_messages(key)
        if parsed is None:
            return Outcome.REJECTED
        resource, thread = parsed
        moved = {resource} if resource else self._run(older_members(self._services.keys, key, thread))
        outcomes = [self._adopt_thread(name, thread) for name in sorted(moved)]
        return next((outcome for outcome in outcomes if outcome is not Outcome.REST), Outcome.REST)

    def _adopt_thread(self, resource: str, thread: str) -> Outcome:
        keys, settings = self._services.keys, self._services.settings.for_agent(resource)
        if settings.read_only:
            return Outcome.REST
        word, sets = reading.stored_scope(keys, resource), scope_state.raw_sets(keys, resource, [thread])
        stored, found, stands = self._run(batch(word, sets, aliases.resolve(keys, resource, thread)))
        scope, raw = reading.as_scope(resource, stands, stored or settings.scope), found[thread]
        if raw.members == raw.counted:
            # nothing to adopt; but whoever adopted it may have died before it was marked
            self._run(due.mark(keys.due_observe, [scope] if raw.members else []))
            return Outcome.REST
        redaction = self._services.redacting.of_plain_writers(resource, self._services.stopping.go_on)
        adopted = self._run(adopt(keys, self._services.clock, resource, thread, self._services.count, redaction))
        self._services.events.adopted(resource, stands, adopted)
        if adopted is None:
            return Outcome.SUPERSEDED
        self._run(due.mark(keys.due_observe, [scope]))
        return Outcome.REJECTED if adopted.rejected and not adopted.kept else Outcome.SEALED

    def states(self, resource: str) -> list[ScopeState]:
        """Every scope of a resource."""
        keys = self._services.keys
        whole = self._run(scope_state.look(keys, Scope(resource)))
        if (whole.word or self._services.settings.for_agent(resource).scope) != "thread":
            return [whole]
        threads = self._run(clear.threads_of(keys, resource))
        return self._run(scope_state.looks(keys, [Scope(resource, thread) for thread in threads])) or [whole]

    def _tend(self, resource: str, now: int) -> Outcome:
        keys = self._services.keys
        before = self._run(due.looked(keys, resource, now))
        states = self.states(resource)
        if (
            not any(map(_holds, states))
            and before < now - due.LEASE_MS
            and self._run(resource_index.let_go(keys, resource))
        ):
            return Outcome.REST
        if self._is_idle(resource, states):
            cleared = self._run(changing.cleared(keys, resource, retention=True))
            self._services.events.cleared(resource, cleared)
            return cleared.outcome
        self._keep_ids(states, now)
        self._mend(resource, states)
        self._keep_index(states)
        self._keep_reviews(states)
        self._keep_shared(states)
        self._keep_values(resource, now)
        return self._mark(states, resource, now)

    def _mark(self, states: Sequence[ScopeState], resource: str, now: int) -> Outcome:
        keys = self._services.keys
        limits = self._services.in_force(Scope(resource)).limits
        places = [*zip(states, self._run(keyspace_scan.places(keys, [state.scope for state in states])), strict=True)]
        forgotten = [state.scope for state, place in places if self._is_forgotten(state, place.observe_at, now)]
        full = [
            state.scope
            for state, place in places
            if is_full(state, limits)
            and (place.reflect_at is None or place.reflect_at > now + _LONGEST_PAUSE_MS or self._is_released(state))
        ]
        self._run(due.mark(keys.due_observe, forgotten))
        self._run(due.mark(keys.due_reflect, full))
        return Outcome.BUSY if forgotten or full else Outcome.REST

    def _keep_ids(self, states: Sequence[ScopeState], now: int) -> None:
        """Learn the ids that an older version did not write down, and forget those of which nothing is kept any more.

        A thread that moved here knows ids although nothing was sealed in its own scope yet.
        """
        keys = self._services.keys
        unlearned = [state for state in states if state.unlearned]
        for state in unlearned:
            self._run(known.learn(keys, state.scope, self._threads(state.scope), complete=state is unlearned[-1]))
        for state in states:
            if (state.record.epoch or state.scope.thread) and state.tidy_at <= now:
                ttl_s = self._services.in_force(state.scope).retention_s
                self._run(known.tidy(keys, state.scope, self._threads(state.scope), ttl_s))

    def _mend(self, resource: str, states: Sequence[ScopeState]) -> None:
        """Repair a memory once a day, unless it is too large to read (store/audit/mending.py)."""
        keys, size = self._services.keys, sum(state.record.observed_messages for state in states)
        fits = any(state.record.epoch for state in states) and size <= _MENDED_MESSAGES
        if self._mends and fits and self._run(mending.is_due(keys, resource)):
            self._mends -= 1
            retention_s = self._services.in_force(Scope(resource)).retention_s
            if mended := self._run(mending.mend(keys, resource, retention_s)):
                _log.warning("memory_mended", resource=resource, repairs=mended)

    def _keep_values(self, resource: str, now: int) -> None:
        """Remove encrypted values of what was removed by somebody who died on the way."""
        keys, own = self._services.keys, self._services.settings.for_agent(resource)
        if own.redaction.key_env and 0 < self._run(redacted.marked(keys, resource)) < now - due.LEASE_MS:
            work = partial(unused_values.drop, keys, resource)
            self._run(changing.changed(keys, resource, own.recall.language, work, changing.everything, removes=False))

    def _keep_index(self, states: Sequence[ScopeState]) -> None:
        """Have what has no index of this version indexed, so much at a time; till then whoever recalls reads the messages."""
        for state in states:
            if state.record.epoch and state.indexed != str(VERSION):
                scope, language = state.scope, self._services.agent(state.scope).recall.language
                threads = self._threads(scope)
                self._run(reindex(self._services.keys, scope, state.record.epoch, threads, language, _CHUNKS))

    def _keep_reviews(self, states: Sequence[ScopeState]) -> None:
        """Have what waits for its review listed, though whoever put it up died."""
        reviews = {state.scope: review_of(state) for state in states}
        waiting = {scope: review.expires_at for scope, review in reviews.items() if review.waits}
        self._run(review_index.expect(self._services.keys, waiting))

    def _keep_shared(self, states: Sequence[ScopeState]) -> None:
        """Tell others what they were not told yet, and take back what they told and removed since."""
        sharing = Sharing(self._services)
        for state in states:
            sharing.share(state)
            sharing.take_back(state)

    def _is_released(self, state: ScopeState) -> bool:
        """Whether a reflection waits for a review that is asked for no more, or that it was taken away from."""
        asks = self._services.agent(state.scope).reflection.review == "ask"
        return bool(state.record.proposed and state.draft is None) or (review_of(state).waits and not asks)

    def _threads(self, scope: Scope) -> list[str]:
        return [scope.thread] if scope.thread else self._run(clear.threads_of(self._services.keys, scope.resource))

    def _is_forgotten(self, state: ScopeState, observe_at: float | None, now: int) -> bool:
        """Whether nobody will look at a scope that has work; an entry further ahead than a lease is an idle deadline.

        One that is further ahead than any idle deadline is somebody else's, who may mark scopes and knew this one's name.
        """
        idle = self._services.in_force(state.scope).limits.observe_idle_ms
        if observe_at is None or observe_at > now + idle + due.LEASE_MS:
            return self._has_work(state)
        waits = observe_at > now + due.LEASE_MS + 1
        pressing = bool(state.forced or state.chunks) or self.is_stale(state)
        return waits and pressing and self._has_work(state, later=False)

    def _is_idle(self, resource: str, states: Sequence[ScopeState]) -> bool:
        settings = self._services.settings.for_agent(resource)
        if settings.read_only:
            return False
        if any(map(_holds, states)):
            rests = min(self._run(note.stir(self._services.keys, one.scope, _fingerprint(one))) for one in states)
        else:
            rests = self._run(quarantine.rests(self._services.keys, resource))
        return rests > settings.retention_s * 1_000

    def _has_work(self, state: ScopeState, *, later: bool = True) -> bool:
        """Whether a scope should be in the observe index; one at rest, with nothing to wait for, should not.

        With `later` False only what is to be done now counts.
        """
        now = self._services.in_force(state.scope)
        if (state.forced and not state.paused) or self.is_stale(state):
            return True
        if state.unsealed and not state.wake:
            return True
        pressure = pressure_of(state)
        waits = later and policy.deadline(pressure, now.limits, state.now) is not None
        unready = not state.paused and any(not chunk.ready for chunk in state.chunks)
        return waits or unready or policy.decide(pressure, now.limits, state.now).kind != "rest"

    def is_stale(self, state: ScopeState) -> bool:
        """Whether a scope was looked at last by other settings than are in force; of one that was never sealed its wake tells."""
        now, record = self._services.in_force(state.scope), state.record
        if record.epoch and record.limits != recorded_settings.write(now):
            return True
        waits = bool(state.unsealed and state.wake) and not now.limits.read_only
        return waits and state.wake != policy.wake(pressure_of(state), now.limits)


def _holds(state: ScopeState) -> bool:
    """Whether a scope is more than a name: it has a record, or its resource has counters."""
    return bool(state.record.epoch or state.counts)


def _fingerprint(state: ScopeState) -> str:
    unsealed = sum(messages for _, messages in (*state.unsealed.values(), *state.forgetful.values()))
    return f"{unsealed}/{state.record.seq:.17g}/{state.record.generation}"


def is_full(state: ScopeState, limits: Limits) -> bool:
    """Whether a scope should be in the reflect index; who must not be reflected is left to who asks for it."""
    record, may = state.record, limits.enabled and not limits.read_only and not state.paused
    full = policy.is_full(record.observation_tokens, record.observation_count, limits, drafted=state.draft is not None)
    return "force-reflect" in state.forced or ((full or bool(review_of(state).id)) and may)

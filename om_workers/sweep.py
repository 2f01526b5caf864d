"""The sweep: makes every gap good. What pushes, tasks and dead workers left undone is found by looking, not by luck."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import structlog

from om_api import in_force, policy
from om_api.errors import OMError
from om_api.store import clearing, commits, due, looking, reading, survey, writing
from om_api.values import Outcome, Scope
from om_workers.mover import pressure_of

if TYPE_CHECKING:
    from collections.abc import Callable

    from om_api.policy import Limits
    from om_api.store.survey import Standing
    from om_workers.workshop import Workshop

_HINTS = 1_000
_SLICES = 100  # of 1,000 keys each: a store of 100,000 keys is seen whole within a minute
_RESOURCES = 2_000
_DAY_MS = 86_400_000
_log = structlog.get_logger("om_workers")


class Swept(NamedTuple):
    """What a sweep did."""

    adopted: int
    marked: int
    cleared: int
    failed: int


class Sweep:
    """Adopts strays, marks what the due indexes forgot, clears what has been idle for ttl_days."""

    def __init__(self, workshop: Workshop) -> None:
        self._shop = workshop
        self._run = workshop.run

    def sweep(self) -> Swept:
        """One round, bounded: hints first, then slices of the key space, then resources, the longest neglected first."""
        keys = self._shop.keys
        hints = self._run(survey.adoptable(keys, self._run(survey.waiting_for_adoption(keys, _HINTS))))
        strays = self._run(survey.stray_keys(keys, _SLICES))
        did = [self._alone(self.adopt, key) for key in dict.fromkeys([*hints, *strays])]
        now = self._run(due.server_ms())
        neglected = self._run(survey.oldest_looked(keys, now, _RESOURCES))
        self._shop.telling.met(neglected, now)
        tended = [self._alone(self._tend, resource, now) for resource in neglected]
        return Swept(
            adopted=sum(outcome in {Outcome.SEALED, Outcome.REJECTED} for outcome in did),
            marked=tended.count(Outcome.BUSY),
            cleared=tended.count(Outcome.CLEARED),
            failed=[*did, *tended].count(Outcome.FAILED),
        )

    def _alone(self, work: Callable[..., Outcome], name: str, *rest: int) -> Outcome:
        """What one writer breaks hurts no other: log it, and go on with the next."""
        try:
            return work(name, *rest)
        except (OMError, ValueError, OverflowError) as error:  # the last is of a time that is endless
            _log.warning("sweep_passed_over", name=name, error=str(error)[:300])
            return Outcome.FAILED

    def adopt(self, key: str) -> Outcome:
        """Count what a plain ZADD left under a key, and mark its scope due; members of an older form move first."""
        parsed = self._shop.keys.parse_messages(key)
        if parsed is None:
            return Outcome.REJECTED
        if parsed.resource is None:
            moved = self._run(writing.older_members(self._shop.keys, key, parsed.thread))
        else:
            moved = {parsed.resource}
        outcomes = [self._adopt_thread(resource, parsed.thread) for resource in sorted(moved)]
        return next((outcome for outcome in outcomes if outcome is not Outcome.REST), Outcome.REST)

    def _adopt_thread(self, resource: str, thread: str) -> Outcome:
        keys, settings = self._shop.keys, self._shop.settings.for_agent(resource)
        if settings.read_only:
            return Outcome.REST
        scope = self._run(reading.scope_in_force(keys, resource, thread, settings.scope))
        head = self._run(looking.heads(keys, resource, [thread]))[thread]
        if head.members == head.counted:
            # nothing to adopt; but whoever adopted it may have died before it was marked
            self._run(due.mark(keys.due_observe, [scope] if head.members else []))
            return Outcome.REST
        adopted = self._run(writing.adopt(keys, self._shop.clock, scope, thread, self._shop.count))
        self._shop.telling.adopted(resource, thread, adopted)
        if adopted is None:
            return Outcome.SUPERSEDED
        self._run(due.mark(keys.due_observe, [scope]))
        return Outcome.REJECTED if adopted.rejected and not adopted.kept else Outcome.SEALED

    def _tend(self, resource: str, now: int) -> Outcome:
        self._run(due.looked(self._shop.keys, resource, now))
        keys, settings = self._shop.keys, self._shop.settings.for_agent(resource)
        word = self._run(reading.stored_scope(keys, resource)) or settings.scope
        threads = self._run(clearing.threads_of(keys, resource)) if word == "thread" else [None]
        standings = self._run(survey.standings(keys, resource, [Scope(resource, thread) for thread in threads]))
        if self._is_idle(resource, standings):
            cleared = self._run(clearing.clear(keys, resource, now, retention=True))
            self._shop.telling.cleared(resource, cleared)
            return cleared.outcome
        limits = self._shop.in_force(Scope(resource)).limits
        forgotten = [s.scope for s in standings if self._is_forgotten(s, now)]
        full = [s.scope for s in standings if not s.in_reflect and _is_full(s, limits)]
        self._run(due.mark(keys.due_observe, forgotten))
        self._run(due.mark(keys.due_reflect, full))
        return Outcome.BUSY if forgotten or full else Outcome.REST

    def _is_forgotten(self, standing: Standing, now: int) -> bool:
        """Whether nobody will look at a scope that has work; an entry further ahead than a lease is an idle deadline.

        One that is further ahead than any idle deadline is somebody else's, who may mark scopes and knew this one's name.
        """
        idle = self._shop.in_force(standing.scope).limits.observe_idle_ms
        if standing.observe_at is None or standing.observe_at > now + idle + due.LEASE_MS:
            return self._has_work(standing)
        waits = standing.observe_at > now + due.LEASE_MS + 1
        return waits and bool(standing.forced or standing.chunks) and self._has_work(standing, later=False)

    def _is_idle(self, resource: str, standings: list[Standing]) -> bool:
        settings = self._shop.settings.for_agent(resource)
        if settings.read_only:
            return False
        prints = [(s.scope, f"{s.unsealed}/{s.record.seq:.17g}/{s.record.generation}") for s in standings]
        stirred = [self._run(commits.stir(self._shop.keys, scope, fingerprint)) for scope, fingerprint in prints]
        return bool(stirred) and min(stirred) > settings.ttl_days * _DAY_MS

    def _has_work(self, standing: Standing, *, later: bool = True) -> bool:
        """Whether a scope should be in the observe index; one at rest, with nothing to wait for, should not.

        With `later` False only what is to be done now counts.
        """
        now = self._shop.in_force(standing.scope)
        if standing.forced or (standing.record.epoch and standing.record.limits != in_force.write(now)):
            return True
        if standing.unsealed and not standing.wake:
            return True
        stirs = standing.tokens >= standing.wake or standing.largest > now.limits.min_recent_messages
        if not standing.chunks and not (standing.unsealed and stirs):
            return False
        look = self._run(looking.look(self._shop.keys, standing.scope))
        pressure = pressure_of(look)
        waits = later and policy.deadline(pressure, now.limits) is not None
        unready = not look.paused and any(not chunk.ready for chunk in look.chunks)
        return waits or unready or policy.decide(pressure, now.limits, look.now).kind != "rest"

    def apply_settings(self) -> int:
        """Mark every scope due whose record does not carry the settings in force; of how many resources there were any."""
        keys = self._shop.keys
        everybody = self._run(survey.oldest_looked(keys, self._run(due.server_ms()), -1))
        return [self._alone(self._apply, resource) for resource in everybody].count(Outcome.BUSY)

    def _apply(self, resource: str) -> Outcome:
        keys = self._shop.keys
        word = self._run(reading.stored_scope(keys, resource)) or self._shop.settings.for_agent(resource).scope
        threads = self._run(clearing.threads_of(keys, resource)) if word == "thread" else [None]
        written = in_force.write(self._shop.in_force(Scope(resource)))
        standings = self._run(survey.standings(keys, resource, [Scope(resource, thread) for thread in threads]))
        stale = [s.scope for s in standings if (s.unsealed or s.chunks) and s.record.limits != written]
        self._run(due.mark(keys.due_observe, stale))
        return Outcome.BUSY if stale else Outcome.REST


def _is_full(standing: Standing, limits: Limits) -> bool:
    """Whether a scope should be in the reflect index; who must not be reflected is left to who asks for it."""
    record, may = standing.record, limits.enabled and not limits.read_only
    full = policy.is_full(record.observation_tokens, record.observation_count, limits, drafted=standing.drafted)
    return "force-reflect" in standing.forced or (full and may)

"""The sweep: makes every gap good. What pushes, tasks and dead workers left undone is found by looking, not by luck."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING, NamedTuple

from om_api.store import clearing, commits, due, looking, reading, survey, writing
from om_api.values import Outcome, Scope

if TYPE_CHECKING:
    from om_api.policy import Limits
    from om_api.store.survey import Standing
    from om_workers.workshop import Workshop

_HINTS = 1_000
_SLICES = 100  # of 1,000 keys each: a store of 100,000 keys is seen whole within a minute
_RESOURCES = 2_000
_NEGLECTED_MS = 50_000
_DAY_MS = 86_400_000


class Swept(NamedTuple):
    """What a sweep did."""

    adopted: int
    marked: int
    cleared: int


class Sweep:
    """Adopts strays, marks what the due indexes forgot, clears what has been idle for ttl_days."""

    def __init__(self, workshop: Workshop) -> None:
        self._shop = workshop
        self._run = workshop.run

    def sweep(self) -> Swept:
        """One round, bounded: hints first, then slices of the key space, then resources, the longest neglected first."""
        keys = self._shop.keys
        hints = self._run(survey.waiting_for_adoption(keys, _HINTS))
        strays = self._run(survey.stray_keys(keys, _SLICES))
        adopted = sum(self.adopt(key) is not Outcome.REST for key in dict.fromkeys([*hints, *strays]))
        now = self._server_ms()
        marked = cleared = 0
        for resource in self._run(survey.oldest_looked(keys, now - _NEGLECTED_MS, _RESOURCES)):
            did = self._tend(resource, now)
            marked, cleared = marked + (did is Outcome.BUSY), cleared + (did is Outcome.CLEARED)
        return Swept(adopted, marked, cleared)

    def _server_ms(self) -> int:
        return int(time.time() * 1000 + self._shop.clock.offset_ms)

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
        if adopted is None:
            return Outcome.SUPERSEDED
        self._run(due.mark(keys.due_observe, [scope]))
        return Outcome.REJECTED if adopted.rejected and not adopted.kept else Outcome.SEALED

    def _tend(self, resource: str, now: int) -> Outcome:
        keys, settings = self._shop.keys, self._shop.settings.for_agent(resource)
        word = self._run(reading.stored_scope(keys, resource)) or settings.scope
        threads = self._run(clearing.threads_of(keys, resource)) if word == "thread" else [None]
        standings = self._run(survey.standings(keys, resource, [Scope(resource, thread) for thread in threads]))
        if self._is_idle(resource, standings):
            return self._run(clearing.clear(keys, resource, now, retention=True)).outcome
        limits = self._shop.in_force(Scope(resource)).limits
        forgotten = [s.scope for s in standings if not s.in_observe and _has_work(s, limits)]
        full = [
            s.scope
            for s in standings
            if not s.in_reflect
            and (
                s.record.observation_tokens >= limits.reflect_from
                or s.record.observation_count >= limits.max_observations
                or "force-reflect" in s.forced
            )
        ]
        self._run(due.mark(keys.due_observe, forgotten))
        self._run(due.mark(keys.due_reflect, full))
        self._run(due.looked(keys, resource, now))
        return Outcome.BUSY if forgotten or full else Outcome.REST

    def _is_idle(self, resource: str, standings: list[Standing]) -> bool:
        settings = self._shop.settings.for_agent(resource)
        if settings.read_only or not settings.ttl_days:
            return False
        prints = [(s.scope, f"{s.unsealed}/{s.record.seq:.17g}/{s.record.generation}") for s in standings]
        stirred = [self._run(commits.stir(self._shop.keys, scope, fingerprint)) for scope, fingerprint in prints]
        return bool(stirred) and self._server_ms() - max(stirred) > settings.ttl_days * _DAY_MS


def _has_work(standing: Standing, limits: Limits) -> bool:
    """Whether a scope should be in the observe index; one at rest below its wake with nothing to idle over should not."""
    unmet = standing.unsealed and (standing.wake is None or standing.tokens >= standing.wake)
    idling = standing.largest > limits.min_recent_messages
    return bool(unmet or idling or standing.chunks or standing.forced)

"""How full a memory is: what was read of its scopes, summed."""

from collections.abc import Sequence

import msgspec

from om_api.billing.budgets import Today
from om_api.client.remembered.cache_use import waits_until
from om_api.domain.policy import threshold
from om_api.domain.values import made_at
from om_api.settings import Settings, recorded_settings
from om_api.store.memory.scope_state import ScopeState, SideView
from om_api.store.reviews.drafts import review_of


class Stats(msgspec.Struct, frozen=True, kw_only=True):
    """How full a memory is. Tokens by tier; `compression` = tokens observed / tokens they take now, None before that.

    `scope` is in force; `configured_scope` differs from it until `om migrate-scope` moves the memory. `cost_today` is what
    models cost on this UTC day, in dollars, without calls of unknown price; `budget_reached` names the settings of the
    budgets that are used up, "" while none is. `lag` is for how many seconds the oldest work has been waiting, or under way.
    `cache_cold_at` is when (server's Unix ms) the prompt cache goes cold for which ready chunks wait, 0 where none does.
    `rejected_dropped` entries left the quarantine because it was full. `reviews` reflections wait for somebody to approve them.
    """

    resource: str
    scope: str
    configured_scope: str
    threads: int
    message_tokens: int
    chunk_tokens: int
    observation_tokens: int
    reflection_tokens: int
    chunks: int
    ready_chunks: int
    observations: int
    generation: int
    observed_tokens: int
    observed_messages: int
    compression: float | None
    message_threshold: int
    observation_threshold: int
    paused: bool
    observing: bool
    reflecting: bool
    due: bool
    cache_cold_at: int = 0
    rejected: int
    rejected_dropped: int = 0
    reviews: int = 0
    lag: float = 0.0
    cost_today: float = 0.0
    budget_reached: str = ""
    problems: tuple[str, ...] = ()


def stats_of(settings: Settings, resource: str, looks: Sequence[ScopeState], side: SideView, today: Today) -> Stats:
    """What is to be said of a resource; `looks` are at its scopes, at least one."""
    own, amounts, record = settings.for_agent(resource), _amounts(looks), looks[0].record
    limits = (recorded_settings.read(record.limits) or recorded_settings.of(own)).limits
    kept = amounts["observation_tokens"] + amounts["reflection_tokens"]
    return Stats(
        resource=resource,
        scope=side.scope or own.scope,
        configured_scope=own.scope,
        **amounts,
        generation=max(look.record.generation for look in looks),
        compression=round(amounts["observed_tokens"] / kept, 2) if kept else None,
        message_threshold=threshold(limits, record.observation_tokens),
        observation_threshold=limits.observation_threshold,
        paused=looks[0].paused,
        observing=side.observing,
        reflecting=side.reflecting,
        due=side.due_since is not None,
        cache_cold_at=min(filter(None, (waits_until(look, limits) for look in looks)), default=0),
        lag=_lag(looks, side.due_since),
        rejected=side.rejected,
        rejected_dropped=side.dropped,
        reviews=sum(review_of(look).waits for look in looks),
        cost_today=today.cost,
        budget_reached=", ".join(today.reached),
        problems=tuple(f"{problem.file}: {problem.text}" for problem in settings.problems),
    )


def _amounts(looks: Sequence[ScopeState]) -> dict[str, int]:
    """What adds up over scopes."""
    records, chunks = [look.record for look in looks], [chunk for look in looks for chunk in look.chunks]
    return {
        "threads": len({*looks[0].thread_times, *(name for look in looks for name in look.unsealed)}),
        "message_tokens": sum(look.unsealed_tokens for look in looks),
        "chunk_tokens": sum(chunk.tokens for chunk in chunks),
        "observation_tokens": sum(record.observation_tokens for record in records),
        "reflection_tokens": sum(record.reflection_tokens for record in records),
        "chunks": len(chunks),
        "ready_chunks": sum(chunk.ready for chunk in chunks),
        "observations": sum(record.observation_count for record in records),
        "observed_tokens": sum(record.observed_tokens for record in records),
        "observed_messages": sum(record.observed_messages for record in records),
    }


def _lag(looks: Sequence[ScopeState], due_since: int | None) -> float:
    """Seconds since the oldest work there is became due: a scope's look, or a chunk that is not observed yet."""
    waiting = [made_at(chunk.id) for look in looks for chunk in look.chunks if not chunk.ready and not look.paused]
    since = [at for at in (due_since, *waiting) if at is not None]
    return round(max(0, looks[0].now - min(since)) / 1000, 1) if since else 0.0

"""Isolating a message that cannot be observed: its chunk is halved until it is alone, and a placeholder stands for it."""

from collections.abc import Callable, Sequence
from datetime import UTC, datetime

from om_api.domain import chunking
from om_api.domain.chunking import RawMessage
from om_api.domain.policy import Limits
from om_api.domain.tags import escape
from om_api.domain.values import Observation, Outcome, new_id
from om_api.store.memory import chunks, model_cooldown, quarantine
from om_api.store.memory.adopt import rejection
from om_workers.llm.base import Reply
from om_workers.prompts.parse import Observed
from om_workers.work.scope_worker import turns_of
from om_workers.work.sealed import Sealed, observation_of
from om_workers.work.services import Services


def isolate(services: Services, sealed: Sealed, reason: str) -> Outcome:
    """Halve a chunk of several messages (`split`), or put a placeholder in the place of a single one (`rejected`)."""
    did = _quarantine(services, sealed, reason) if len(sealed.messages) == 1 else _halve(services, sealed)
    services.events.isolated(sealed.scope, sealed.summary, did)
    return did


def _halve(services: Services, sealed: Sealed) -> Outcome:
    scope, chunk = sealed.scope, sealed.chunk
    turns = turns_of(sealed.messages, services.count)
    n = half(turns, services.in_force(scope).limits)
    tokens = min(sum(turn.tokens for turn in turns[:n]), chunk.tokens)
    attempts = services.agent(scope).observer.max_attempts - 1
    return services.run(chunks.split(services.keys, scope, chunk, n, tokens, attempts))


def _quarantine(services: Services, sealed: Sealed, reason: str) -> Outcome:
    keys, resource, chunk = services.keys, sealed.scope.resource, sealed.chunk
    member = services.run(quarantine.sealed_member(keys, resource, chunk.id))
    if member is None:
        return Outcome.SUPERSEDED
    now = sealed.state.now
    entry = rejection("unobservable", member, chunk.thread, reason[:500], now, observation=chunk.id)
    placeholder = _placeholder(sealed, reason, services.count)
    segment = sealed.segment(services.agent(sealed.scope).recall.language)
    did = services.run(chunks.buffer(keys, resource, placeholder, new_id(), segment, entry))
    if did is not Outcome.BUFFERED:
        return did
    services.events.trimmed(resource, services.run(quarantine.trim(keys, resource, 1)))
    return Outcome.REJECTED


def _placeholder(sealed: Sealed, reason: str, count: Callable[[str], int]) -> Observation:
    (message,) = sealed.messages
    day = datetime.fromtimestamp(message.at / 1000, UTC)
    line = f"* 🔴 ({day:%H:%M}) One {message.role} message could not be observed: {' '.join(reason.split())[:500]}"
    text = f"Date: {day:%b} {day.day}, {day.year}\n{escape(line)}"
    observed = Observed(text=text, priority=5)
    return observation_of(sealed, observed, Reply(text=text, model=quarantine.PLACEHOLDER), count(text))


def of_the_model(reason: str, error: Exception) -> str:
    """Says that no message is to blame: the model refuses what is harmless, too."""
    return (
        f"{reason[:300]}; and {str(error)[:300]} when asked for a harmless sentence: nothing was quarantined. Correct "
        f"observer_model or its settings; it is tried again every {model_cooldown.WAIT_S // 60} minutes"
    )


def half(turns: Sequence[RawMessage], limits: Limits) -> int:
    """How many of n >= 2 messages go into the first half: as near to n/2 as no tool call is parted from its result.

    Neither half is larger than the power of two below n, so that n messages are single after log2(n) halvings, rounded
    up, whatever their calls; where no permitted cut is that near, a call is parted from its result.
    """
    n = len(turns)
    most = 1 << ((n - 1).bit_length() - 1)
    later = turns[-1].at + limits.observe_idle_ms  # a call without a result here will get none
    whole = [cut for cut in chunking.sealable(turns, limits, later) if n - most <= cut <= most]
    return min(whole or [n // 2], key=lambda cut: (abs(2 * cut - n), cut))

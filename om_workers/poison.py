"""Poison: a chunk that cannot be observed is halved until the one message is found, which a placeholder stands for."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import TYPE_CHECKING

from om_api.store import commits, doubt, quarantine, writing
from om_api.tags import escape
from om_api.values import Outcome, new_id
from om_workers.halving import half
from om_workers.llm.base import Reply
from om_workers.mover import turn_of
from om_workers.prompts.parse import Observed
from om_workers.sealed import observation_of

if TYPE_CHECKING:
    from collections.abc import Callable

    from om_api.values import Observation
    from om_workers.sealed import Sealed
    from om_workers.workshop import Workshop


def isolate(shop: Workshop, sealed: Sealed, reason: str) -> Outcome:
    """Halve a chunk of several messages (`split`), or put a placeholder in the place of a single one (`rejected`)."""
    did = _quarantine(shop, sealed, reason) if len(sealed.messages) == 1 else _halve(shop, sealed)
    shop.telling.isolated(sealed, did)
    return did


def _halve(shop: Workshop, sealed: Sealed) -> Outcome:
    scope, chunk = sealed.scope, sealed.chunk
    turns = [turn_of(message, shop.count) for message in sealed.messages]
    n = half(turns, shop.in_force(scope).limits)
    tokens = min(sum(turn.tokens for turn in turns[:n]), chunk.tokens)
    attempts = shop.agent(scope).observer.max_attempts - 1
    return shop.run(commits.split(shop.keys, scope, chunk, n, tokens, attempts))


def _quarantine(shop: Workshop, sealed: Sealed, reason: str) -> Outcome:
    keys, resource, chunk = shop.keys, sealed.scope.resource, sealed.chunk
    member = shop.run(quarantine.sealed_member(keys, resource, chunk.id))
    if member is None:
        return Outcome.SUPERSEDED
    now = sealed.look.now
    entry = writing.rejection("unobservable", member, chunk.thread, reason[:500], now, observation=chunk.id)
    placeholder = _placeholder(sealed, reason, shop.count)
    did = shop.run(commits.buffer(keys, resource, placeholder, new_id(), entry))
    if did is not Outcome.BUFFERED:
        return did
    shop.telling.trimmed(resource, shop.run(quarantine.trim(keys, resource, 1)))
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
        f"observer_model or its settings; it is tried again every {doubt.WAIT_S // 60} minutes"
    )

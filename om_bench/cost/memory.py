"""What is sent with a memory: every call goes through the real pipeline, and reads what an agent would read."""

from __future__ import annotations

import time
from collections.abc import Sequence
from functools import partial
from statistics import mean

import msgspec

from om_api.context import Context
from om_api.domain.message_tokens import Count
from om_bench.cost.calls import AgentCall, moved
from om_bench.cost.observers import ObserverCall, OneForAll, StandIn
from om_bench.cost.wire import Piece, of_anthropic, of_openai, size
from om_bench.harness.pipeline import pipeline
from om_bench.harness.recommended import as_environment

TIERS = {"reflection": "reflection", "observations": "observations", "messages": "message"}
_DAY_MS = 86_400_000


class Replayed(msgspec.Struct):
    """All calls of a conversation with a memory, in order.

    What each sends to a provider that caches by itself, and to one that caches at breakpoints; what was asked of the
    memory's own models before it; how many tokens it reads, and how many of each tier.
    """

    plain: list[list[Piece]] = []
    marked: list[list[Piece]] = []
    asked: list[list[ObserverCall]] = []
    read: list[int] = []
    tiers: dict[str, list[int]] = msgspec.field(default_factory=lambda: {tier: list[int]() for tier in TIERS})

    @property
    def remembered(self) -> int:
        """How many tokens of a call are memory, on average."""
        return round(mean(map(sum, zip(self.tiers["reflection"], self.tiers["observations"], strict=True))))


def replay(
    calls: Sequence[AgentCall], settings: Sequence[str], ratio: float | None, count: Count, url: str | None
) -> Replayed:
    """Push what each call brings, have done what is due by it, and read the context.

    `settings` are "name=value", `ratio` the tokens of messages to one of notes (None: as the extractive
    observer likes). The conversation is moved to end yesterday. Raises StoreError and SettingsError.
    """
    observer, found = StandIn(count, ratio), Replayed()
    with pipeline(url, as_environment(settings), partial(OneForAll, model=observer)) as running:
        resource = calls[0].messages[0].resource_id
        running.clear(resource)
        for call in moved(calls, _to_yesterday(calls)):
            running.push(*call.messages)
            _note(found, running.context(call.messages[-1].thread_id, resource), observer.taken(), count)
        running.clear(resource)
    return found


def _to_yesterday(calls: Sequence[AgentCall]) -> int:
    """Whole days, so that dates stand where they stood and are as old, whenever it is run."""
    today = time.time_ns() // 1_000_000 // _DAY_MS
    return (today - 1 - calls[-1].messages[-1].at // _DAY_MS) * _DAY_MS


def _note(found: Replayed, context: Context, asked: list[ObserverCall], count: Count) -> None:
    found.plain.append(list(of_openai(context.as_openai(), count)))
    found.marked.append(list(of_anthropic(context.as_anthropic(), count)))
    found.asked.append(asked)
    found.read.append(size(found.plain[-1]))
    for tier, kind in TIERS.items():
        found.tiers[tier].append(sum(block.tokens for block in context.blocks if block.kind == kind))

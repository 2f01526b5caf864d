"""What is sent with a memory: every call goes through the real pipeline, and reads what an agent would read."""

import time
from collections.abc import Sequence
from functools import partial
from statistics import mean
from typing import NamedTuple

import msgspec

from om_api.context import Context
from om_api.domain.message_tokens import Count, count_message
from om_api.settings import Settings
from om_bench.cost.calls import AgentCall, moved
from om_bench.cost.wire import Piece, of_anthropic, of_openai, paragraphs, size
from om_bench.harness.pipeline import pipeline
from om_bench.memory.quality import CacheReplay, steady, written
from om_workers.calls.registry import Registry
from om_workers.llm.base import Model, Reply, Request
from om_workers.llm.extractive import Extractive

TIERS = {"reflection": "reflection", "observations": "observations", "messages": "message"}
_DAY_MS = 86_400_000


class ObserverCall(NamedTuple):
    """One call of an Observer or Reflector: its prompt, and the tokens of its answer."""

    pieces: list[Piece]
    output: int


class StandIn(Extractive):
    """Notes by rules, one token for each `ratio` tokens of messages (None: as many as it likes), and what was asked of it.

    What it is sent is what a model would be sent; what a model would note, and how much of it, is an assumption.
    """

    def __init__(self, count: Count, ratio: float | None) -> None:
        self._count, self._ratio = count, ratio
        self._asked: list[ObserverCall] = []

    def complete(self, request: Request) -> Reply:
        """Answer, and remember what it took."""
        reply = super().complete(self._sized(request))
        pieces = [*paragraphs(request.system, self._count), *paragraphs(request.prompt, self._count)]
        self._asked.append(ObserverCall(pieces, self._count(reply.text)))
        return reply

    def _sized(self, request: Request) -> Request:
        if self._ratio is None or request.purpose != "observe":
            return request
        tokens = sum(count_message(message, self._count) for message in request.messages)
        return msgspec.structs.replace(request, target_tokens=max(1, int(tokens / self._ratio)))

    def taken(self) -> list[ObserverCall]:
        """What was asked since this was called last."""
        asked, self._asked = self._asked, []
        return asked


class OneForAll(Registry):
    """Answers for every name with the same model."""

    def __init__(self, settings: Settings, model: Model) -> None:
        super().__init__(settings)
        self._one = model

    def model_for(self, name: str, tokens: int) -> Model | None:  # noqa: ARG002  the Registry's signature
        """The one model."""
        return self._one


class Replayed(msgspec.Struct):
    """All calls of a conversation with a memory, in order.

    What each sends to a provider that caches by itself, and to one that caches at breakpoints; what was asked of the
    memory's own models before it; how many tokens it reads, and how many of each tier. `phi` and `prefix_share`: see CacheReplay.
    """

    plain: list[list[Piece]] = []
    marked: list[list[Piece]] = []
    asked: list[list[ObserverCall]] = []
    read: list[int] = []
    tiers: dict[str, list[int]] = msgspec.field(default_factory=lambda: {tier: list[int]() for tier in TIERS})
    phi: float = 0.0
    prefix_share: float = 1.0

    @property
    def remembered(self) -> int:
        """How many tokens of a call are memory, on average."""
        return round(mean(map(sum, zip(self.tiers["reflection"], self.tiers["observations"], strict=True))))


def replay(
    calls: Sequence[AgentCall],
    settings: Sequence[str],
    ratio: float | None,
    count: Count,
    url: str | None,
    every: int | None = None,
) -> Replayed:
    """Push what each call brings, have done what is due by it, and read the context.

    After `every` so many calls the agent rests until its provider's cache is cold. `settings` are "name=value", `ratio` the
    tokens of messages to one of notes (None: as the extractive observer likes). The conversation is moved to end yesterday.
    Raises StoreError and SettingsError.
    """
    observer, found, cache = StandIn(count, ratio), Replayed(), CacheReplay(count)
    with pipeline(url, settings, partial(OneForAll, model=observer)) as running:
        resource = calls[0].messages[0].resource_id
        running.om.clear(resource)
        for place, call in enumerate(moved(calls, _to_yesterday(calls))):
            if every and place and place % every == 0:
                running.cool(resource)
            running.push(*call.messages)
            context = running.om.get_context(call.messages[-1].thread_id, resource)
            cache.read(steady(context), count("\n".join(map(written, call.messages))))
            _note(found, context, observer.taken(), count)
        running.om.clear(resource)
    # signatures are of other tokens each time
    found.phi, found.prefix_share = round(cache.phi, 2), round(cache.share, 3)
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

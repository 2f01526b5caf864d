"""Who observes in a replay: the extractive model, alone or in the place of a model whose notes have a known size."""

from __future__ import annotations

from typing import NamedTuple

import msgspec

from om_api.domain.message_tokens import Count, count_message
from om_api.settings import Settings
from om_bench.cost.wire import Piece, paragraphs
from om_workers.calls.registry import Registry
from om_workers.llm.base import Model, Reply, Request
from om_workers.llm.extractive import Extractive


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

"""From a snapshot to the context an agent's model reads."""

from __future__ import annotations

from functools import cached_property
from typing import TYPE_CHECKING, Any

import msgspec

from om_api.context.anthropic import anthropic_request
from om_api.context.block import Block
from om_api.context.cut import first_shown
from om_api.context.gemini import gemini_request
from om_api.context.openai import openai_messages
from om_api.context.parts import plain
from om_api.context.stable import stable_blocks
from om_api.context.turns import Turn, turns
from om_api.context.volatile import volatile_blocks
from om_api.weights import count_message

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from om_api.context.view import View
    from om_api.values import Generation, Message, Observation, Snapshot, Stored


class Context(msgspec.Struct, frozen=True, kw_only=True, dict=True):
    """Everything an agent's model should read before its next turn.

    `blocks` in reading order; `messages` the own thread's raw messages in view, oldest first; `omitted` how many older
    ones `max_tokens` left out (the memory keeps them). `unavailable`: the long-term memory could not be reached.
    """

    resource_id: str
    thread_id: str
    blocks: tuple[Block, ...]
    messages: list[Message]
    observations: list[Observation]
    reflection: Generation | None
    tokens: int
    omitted: int = 0
    unavailable: bool = False

    @cached_property
    def text(self) -> str:
        """Everything as one plain text; each message is preceded by its role."""
        return "\n\n".join(block.plain for block in self.blocks)

    @cached_property
    def _turns(self) -> list[Turn]:
        return turns(self.messages)

    def as_openai(self) -> list[dict[str, Any]]:
        """The `messages` of a chat request to OpenAI or anyone compatible."""
        return openai_messages(self.blocks, self._turns)

    def as_anthropic(self) -> dict[str, Any]:
        """The `system` and `messages` of a request to Anthropic, with cache breakpoints."""
        return anthropic_request(self.blocks, self._turns)

    def as_gemini(self) -> dict[str, Any]:
        """The `system_instruction` (absent while there is no memory) and `contents` of a request to Gemini."""
        return gemini_request(self.blocks, self._turns)


def build(
    snapshot: Snapshot,
    view: View,
    count: Callable[[str], int],
    now_ms: int,
    max_tokens: int | None = None,
    unavailable: bool = False,  # noqa: FBT001, FBT002 - same
) -> Context:
    """Make a context of what was read at one instant; `now_ms` shows in its last block only.

    `max_tokens` (else the view's `context_max_tokens`) caps the whole by leaving out the oldest raw messages, never the
    newest one. Nothing of the snapshot is changed.
    """
    observations = sorted(snapshot.observations, key=lambda stored: stored.seq)
    stable = stable_blocks(snapshot, observations, count)
    dated = _texts(snapshot, observations)
    volatile = volatile_blocks(snapshot, dated, view, count, now_ms, unavailable=unavailable)
    messages = sorted(snapshot.messages, key=lambda message: message.at)
    raw = [_message(message, count) for message in messages]
    cap = view.context_max_tokens if max_tokens is None else max_tokens
    room = None if cap is None else cap - sum(block.tokens for block in (*stable, *volatile))
    start = first_shown(messages, [block.tokens for block in raw], room)
    blocks = (*stable, *raw[start:], *volatile)
    return Context(
        resource_id=snapshot.scope.resource,
        thread_id=snapshot.thread.id,
        blocks=blocks,
        messages=messages[start:],
        observations=[stored.observation for stored in observations],
        reflection=snapshot.generation,
        tokens=sum(block.tokens for block in blocks),
        omitted=start,
        unavailable=unavailable,
    )


def _texts(snapshot: Snapshot, observations: Sequence[Stored]) -> list[str]:
    reflected = [snapshot.generation.text] if snapshot.generation else []
    return [*reflected, *(stored.observation.text for stored in observations)]


def _message(message: Message, count: Callable[[str], int]) -> Block:
    text, tokens = plain(message), count_message(message, count)
    return Block(kind="message", role=message.role, text=text, stable=False, tokens=tokens)

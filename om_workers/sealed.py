"""A sealed chunk as the Observer reads it, and the observation that becomes of it."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING, NamedTuple

from om_api.store import decoding, doubt, looking, reading
from om_api.store.steps import together
from om_api.values import Observation
from om_workers.prompts.recalled import Shown

if TYPE_CHECKING:
    from om_api.store.looking import Look
    from om_api.values import Chunk, Message, Scope
    from om_workers.llm.base import Reply
    from om_workers.prompts.parse import Observed
    from om_workers.workshop import Workshop


class Sealed(NamedTuple):
    """A chunk that is not ready: its messages, the observations before it, and the current task of its thread.

    `waits`: its resource waits for a model that can observe something.
    """

    look: Look
    chunk: Chunk
    messages: list[Message]
    before: list[Observation]
    task: str
    waits: bool

    @property
    def scope(self) -> Scope:
        """The scope whose memory it belongs to."""
        return self.look.scope

    @property
    def shown(self) -> Shown:
        """What agents were shown of this memory."""
        return Shown(self.look.signing_key, self.scope)

    @property
    def texts(self) -> list[str]:
        """What the observations before it say, oldest first."""
        return [observation.text for observation in self.before if observation.text]


def read(shop: Workshop, scope: Scope, chunk_id: str) -> Sealed | None:
    """Read a chunk; None when it is gone or ready."""
    look = shop.run(looking.look(shop.keys, scope))
    chunk = next((chunk for chunk in look.chunks if chunk.id == chunk_id), None)
    if chunk is None or chunk.ready:
        return None
    messages, stored, (state,), waits = shop.run(
        together(
            looking.sealed_messages(shop.keys, scope.resource, chunk),
            reading.observations(shop.keys, scope),
            reading.threads(shop.keys, scope.resource, [chunk.thread]),
            doubt.waits(shop.keys, scope.resource),
        )
    )
    pending = [decoding.as_observation(c.observation) for c in look.chunks if c.observation]
    before = [each.observation for each in stored] + pending
    task = next((o.task_state for o in reversed(pending) if o.thread_id == chunk.thread), "") or state.current_task
    return Sealed(look, chunk, messages, before, task, waits)


def observation_of(sealed: Sealed, observed: Observed, reply: Reply, tokens: int) -> Observation:
    """The observation that covers a chunk's messages; `tokens` are those of its text."""
    ids = tuple(message.id for message in sealed.messages)
    return Observation(
        id=sealed.chunk.id,
        thread_id=sealed.chunk.thread,
        text=observed.text,
        priority=observed.priority,
        task_state=observed.current_task,
        suggested_response=observed.suggested_response,
        message_ids=ids,
        source_range=(ids[0], ids[-1]),
        from_=sealed.messages[0].at,
        to=sealed.messages[-1].at,
        tokens=tokens,
        message_tokens=sealed.chunk.tokens,
        model=reply.model,
        cost=reply.cost,
        created_at=int(time.time() * 1000),
    )

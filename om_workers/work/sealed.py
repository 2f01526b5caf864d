"""Sealed chunks: which of them share a call, what the Observer reads of one, and the observation that becomes of it."""

import time
from collections.abc import Collection, Iterable, Mapping, Sequence
from typing import Any, NamedTuple

import msgspec

from om_api.domain.histories.retraction import standing
from om_api.domain.kept.extractors import TITLE, Extracted
from om_api.domain.kept.titles import SUGGESTED
from om_api.domain.messages import Message
from om_api.domain.notes.marks import Mark, marked_lines
from om_api.domain.tool_calls import without_own
from om_api.domain.values import Chunk, KeptFields, Observation, Scope, ThreadState
from om_api.recall.segment import encode
from om_api.store.driver.steps import batch, each
from om_api.store.index.indexing import of_messages
from om_api.store.memory import decoding, model_cooldown, reading, scope_state
from om_api.store.memory.known import retracted
from om_api.store.memory.scope_state import ScopeState
from om_api.store.working import working
from om_api.telemetry import spans
from om_workers.llm.base import Reply
from om_workers.process.event_publisher import ChunkSummary
from om_workers.prompts.parse import Observed
from om_workers.prompts.recalled import Shown
from om_workers.trust.earlier import marks_in
from om_workers.work.extracting import NOTHING_FOUND, Found, of_thread, said_so_far
from om_workers.work.services import Services


class Sealed(NamedTuple):
    """A chunk that is not ready: its messages, the observations before it, and the current task of its thread.

    `waits`: its resource waits for a model that can observe something. `kept` is what the sections of extractors say so far
    of its thread and of the whole memory, by their slugs, `marks` what the notes before only quote. `changed` are the messages
    without what is retracted, as hooks left them; None where all are as they came. `own_calls` are ids of calls of own tools in
    earlier chunks.
    """

    state: ScopeState
    chunk: Chunk
    messages: list[Message]
    before: list[Observation]
    task: str
    waits: bool
    kept: dict[str, Any]
    marks: Sequence[Mark] = ()
    changed: list[Message] | None = None
    own_calls: Sequence[str] = ()

    @property
    def heard(self) -> list[Message]:
        """The messages as the model reads them; what is covered are `messages`, whatever is read of them."""
        return without_own(self.messages if self.changed is None else self.changed, self.own_calls)

    @property
    def scope(self) -> Scope:
        """The scope whose memory it belongs to."""
        return self.state.scope

    @property
    def summary(self) -> ChunkSummary:
        """What is told of it."""
        return ChunkSummary(self.chunk.thread, self.chunk.id, len(self.messages), self.chunk.tokens)

    @property
    def shown(self) -> Shown:
        """What agents were shown of this memory."""
        return Shown(self.state.signing_key, self.scope)

    def segment(self, language: str) -> bytes:
        """The index of its messages; none where not each of them could be read, for the index tells them by their place."""
        whole = len(self.messages) == self.chunk.messages
        return encode(self.chunk.thread, of_messages(self.messages, self.own_calls), language) if whole else b""

    @property
    def traceparents(self) -> list[str]:
        """The spans by which its messages were added, oldest first."""
        return [message.traceparent for message in self.messages]

    @property
    def texts(self) -> list[str]:
        """What the observations before it say, oldest first."""
        return [observation.text for observation in self.before if observation.text]


def read(services: Services, scope: Scope, ids: Sequence[str], seen: ScopeState | None = None) -> list[Sealed]:
    """Read chunks in one round trip where `seen` names them, else in three; those that are gone or ready are left out."""
    keys, resource = services.keys, scope.resource
    known = {chunk.id: chunk for chunk in (seen or services.run(scope_state.look(keys, scope, ids))).chunks}
    chunks = [known[name] for name in ids if name in known]
    beside = batch(
        reading.observations(keys, scope),
        reading.threads(keys, resource, [chunk.thread for chunk in chunks]),
        each(scope_state.sealed_messages(keys, resource, chunk) for chunk in chunks),
        model_cooldown.waits(keys, resource),
        reading.generations(keys, scope, newest=1),
        batch(
            working.read_each(keys, resource, ["", *(chunk.thread for chunk in chunks)]),
            reading.own_calls(keys, resource, [chunk.thread for chunk in chunks]),
            retracted(keys, resource, [chunk.thread for chunk in chunks]),
        ),
    )
    state, (stored, threads, messages, waits, generations, (fields, own, gone)) = services.run(
        scope_state.look_beside(keys, scope, beside, known.keys())
    )
    pending = [decoding.as_observation(chunk.observation) for chunk in state.chunks if chunk.observation]
    before = [one.observation for one in stored] + pending
    now = {chunk.id: chunk for chunk in state.chunks if not chunk.ready}
    kept = said_so_far(generations[-1] if generations else None, before)
    sections = [_kept(kept, thread.id, fields) | _title(pending, thread) for thread in threads]
    marks = marks_in([*(each.text for each in generations), *(each.text for each in before)])
    return [
        Sealed(
            state,
            now[chunk.id],
            said,
            before,
            _task(pending, thread),
            waits,
            says,
            marks,
            _standing(said, gone[chunk.thread]),
            own[chunk.thread],
        )
        for chunk, thread, said, says in zip(chunks, threads, messages, sections, strict=True)
        if chunk.id in now
    ]


def _standing(messages: list[Message], marks: Collection[bytes]) -> list[Message] | None:
    """The messages of a chunk without the retracted ones; None if there are none."""
    left = standing(messages, marks)
    return left if len(left) < len(messages) else None


def _kept(extracted: Extracted, thread: str, fields: Mapping[str, KeptFields]) -> dict[str, Any]:
    return of_thread(extracted, thread, {place: fields[place] for place in ("", thread)})


def _task(pending: Sequence[Observation], thread: ThreadState) -> str:
    """What the newest note on it says, activated or not."""
    said = [one.task_state for one in pending if one.thread_id == thread.id and (one.task_state or one.no_task)]
    return [thread.current_task, *said][-1]


def _title(pending: Sequence[Observation], thread: ThreadState) -> dict[str, str]:
    """What the thread is called, by the newest suggestion, activated or not, unless somebody gave it its title."""
    said = [one.extracted[TITLE] for one in pending if one.thread_id == thread.id and TITLE in one.extracted]
    suggested = not thread.title or thread.title_by == SUGGESTED
    title = [thread.title, *(said if suggested else ())][-1]
    return {TITLE: title} if title else {}


def observation_of(
    sealed: Sealed, observed: Observed, reply: Reply, tokens: int, found: Found = NOTHING_FOUND
) -> Observation:
    """The observation that covers a chunk's messages; `tokens` are those of its text, `found` what stands beside it."""
    ids = tuple(message.id for message in sealed.messages)
    return Observation(
        id=sealed.chunk.id,
        thread_id=sealed.chunk.thread,
        text=observed.text,
        priority=observed.priority,
        task_state=observed.current_task,
        suggested_response=observed.suggested_response,
        no_task=observed.no_task,
        no_suggestion=observed.no_suggestion,
        spoken_at=max((message.at for message in sealed.messages if message.role == "assistant"), default=0),
        message_ids=ids,
        source_range=(ids[0], ids[-1]),
        from_=sealed.messages[0].at,
        to=sealed.messages[-1].at,
        tokens=tokens,
        message_tokens=sealed.chunk.tokens,
        model=reply.model,
        cost=reply.cost,
        created_at=int(time.time() * 1000),
        extracted=found.extracted,
        common=found.common,
        marked=marked_lines(observed.text),
        traceparent=spans.traceparent() or msgspec.UNSET,
    )


def batches(chunks: Iterable[Chunk], most: int) -> list[list[Chunk]]:
    """Group chunks of different threads, in their order, into calls of less than `most` tokens; a larger one is alone.

    A chunk that was tried before is alone: had the call failed because of it, the others would fail with it again.
    """
    found: list[list[Chunk]] = []
    room = 0
    for chunk in chunks:
        alone = chunk.attempts > 0
        if alone or chunk.tokens >= room:
            found.append([])
            room = most
        found[-1].append(chunk)
        room = 0 if alone else room - chunk.tokens
    return found

"""The Observer: has a sealed chunk observed by a model and stores what it noted. Read, think, commit."""

from __future__ import annotations

import time
from datetime import UTC, datetime
from typing import TYPE_CHECKING, NamedTuple

from om_api.errors import ModelError
from om_api.store import commits, decoding, due, looking, reading, writing
from om_api.tags import escape
from om_api.values import Observation, Outcome, Scope, count_message, encode_message, new_id
from om_workers.llm.base import Reply
from om_workers.mover import chunk_lock
from om_workers.prompts.parse import Observed, parse_observer
from om_workers.prompts.render import observer_request

if TYPE_CHECKING:
    from collections.abc import Callable

    from om_api.store.looking import Look
    from om_api.values import Chunk, Message
    from om_workers.mover import Mover
    from om_workers.workshop import Workshop


class Observer:
    """One chunk's way from messages to an observation."""

    def __init__(self, workshop: Workshop, mover: Mover) -> None:
        self._shop = workshop
        self._run = workshop.run
        self._mover = mover

    def observe_chunk(self, name: str, chunk_id: str) -> Outcome:
        """Observe one sealed chunk, then make whatever move its scope is due by that."""
        scope = Scope.parse(name)
        lock = self._shop.keys.of(scope.resource).lock(chunk_lock(chunk_id))
        with self._shop.heartbeat.lock(lock) as mine:
            outcome = self._observe_locked(scope, chunk_id) if mine else Outcome.BUSY
        if outcome in {Outcome.BUFFERED, Outcome.SPLIT, Outcome.REJECTED} and self._mover.observe(name) is Outcome.BUSY:
            self._run(due.mark(self._shop.keys.due_observe, [scope]))
        return outcome

    def _observe_locked(self, scope: Scope, chunk_id: str) -> Outcome:
        read = self._read(scope, chunk_id)
        if read is None:
            return Outcome.SUPERSEDED
        agent = self._shop.agent(scope)
        if read.look.paused or not agent.enabled or agent.read_only:
            return Outcome.REST
        attempts = self._run(commits.begin(self._shop.keys, scope.resource, chunk_id))
        if attempts is None:
            return Outcome.SUPERSEDED
        limit = agent.observer.max_attempts
        if attempts > limit:  # whoever tried before did not live to say why
            return self._isolate(read, "observing it ended the worker")
        try:
            reply, observed = self._think(read)
        except ModelError as error:
            return self._failed(read, error, last=attempts >= limit)
        return self._commit(read, reply, observed)

    def _read(self, scope: Scope, chunk_id: str) -> Reading | None:
        look = self._run(looking.look(self._shop.keys, scope))
        chunk = next((chunk for chunk in look.chunks if chunk.id == chunk_id), None)
        if chunk is None or chunk.ready:
            return None
        messages = self._run(looking.sealed_messages(self._shop.keys, scope.resource, chunk))
        stored = self._run(reading.observations(self._shop.keys, scope))
        pending = [decoding.as_observation(c.observation) for c in look.chunks if c.observation]
        (state,) = self._run(reading.threads(self._shop.keys, scope.resource, [chunk.thread]))
        before = [each.observation for each in stored] + pending
        task = next((o.task_state for o in reversed(pending) if o.thread_id == chunk.thread), "") or state.current_task
        return Reading(look, chunk, messages, before, task)

    def _think(self, read: Reading) -> tuple[Reply, Observed]:
        agent = self._shop.agent(read.look.scope)
        request = observer_request(
            read.messages,
            [observation.text for observation in read.before if observation.text],
            previous_tokens=agent.observer.previous_tokens,
            instruction=agent.observer.instruction,
            timezone=agent.timezone,
            variant=agent.observer.prompt,
            prior_task=read.task,
            temperature=agent.observer.temperature,
            timeout=agent.observer.timeout,
            count=self._shop.count,
        )
        model = self._shop.registry.model(agent.observer_models)
        for _ in range(2):
            reply = model.complete(request)
            observed = parse_observer(reply.text)
            if observed.readable and not observed.degenerate:
                return reply, observed
        raise ModelError(f"{model.name} gave no observations but a refusal or a loop, twice", retryable=False)

    def _commit(self, read: Reading, reply: Reply, observed: Observed) -> Outcome:
        observation = _observation(read, observed, reply, self._shop.count(observed.text) if observed.text else 0)
        return self._run(commits.buffer(self._shop.keys, read.look.scope.resource, observation, new_id()))

    def _failed(self, read: Reading, error: ModelError, *, last: bool) -> Outcome:
        if error.retryable:  # the vendor's fault, not the chunk's
            self._run(commits.begin(self._shop.keys, read.look.scope.resource, read.chunk.id, -1))
            if error.retry_after:
                at = read.look.now + round(error.retry_after * 1000)
                self._run(due.postpone(self._shop.keys.due_observe, read.look.scope, at))
            raise error
        if last:
            return self._isolate(read, str(error))
        self._run(due.mark(self._shop.keys.due_observe, [read.look.scope]))
        raise error

    def _isolate(self, read: Reading, reason: str) -> Outcome:
        """Halve a chunk that cannot be observed until the one message is found, and put a placeholder in its place."""
        scope, chunk = read.look.scope, read.chunk
        if len(read.messages) > 1:
            half = len(read.messages) // 2
            tokens = sum(count_message(message, self._shop.count) for message in read.messages[:half])
            attempts = self._shop.agent(scope).observer.max_attempts - 1
            return self._run(commits.split(self._shop.keys, scope, chunk, half, tokens, attempts))
        (message,) = read.messages
        placeholder = _placeholder(read, reason, self._shop.count)
        entry = writing.rejection(encode_message(message), chunk.thread, reason[:500], read.look.now)
        did = self._run(commits.buffer(self._shop.keys, scope.resource, placeholder, new_id(), entry))
        return Outcome.REJECTED if did is Outcome.BUFFERED else did


class Reading(NamedTuple):
    """What was read before a chunk is thought about."""

    look: Look
    chunk: Chunk
    messages: list[Message]
    before: list[Observation]
    task: str


def _observation(read: Reading, observed: Observed, reply: Reply, tokens: int) -> Observation:
    ids = tuple(message.id for message in read.messages)
    return Observation(
        id=read.chunk.id,
        thread_id=read.chunk.thread,
        text=observed.text,
        priority=observed.priority,
        task_state=observed.current_task,
        suggested_response=observed.suggested_response,
        message_ids=ids,
        source_range=(ids[0], ids[-1]),
        from_=read.messages[0].at,
        to=read.messages[-1].at,
        tokens=tokens,
        message_tokens=read.chunk.tokens,
        model=reply.model,
        cost=reply.cost,
        created_at=int(time.time() * 1000),
    )


def _placeholder(read: Reading, reason: str, count: Callable[[str], int]) -> Observation:
    (message,) = read.messages
    day = datetime.fromtimestamp(message.at / 1000, UTC)
    line = f"* 🔴 ({day:%H:%M}) One {message.role} message could not be observed: {' '.join(reason.split())[:500]}"
    text = f"Date: {day:%b} {day.day}, {day.year}\n{escape(line)}"
    observed = Observed(text=text, priority=5)
    reply = Reply(text=text, model="placeholder")
    return _observation(read, observed, reply, count(text))

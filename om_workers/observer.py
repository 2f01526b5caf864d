"""The Observer: has a sealed chunk observed by a model and stores what it noted. Read, think, commit."""

from __future__ import annotations

import time
from datetime import UTC, datetime
from typing import TYPE_CHECKING, NamedTuple

import msgspec

from om_api.errors import ModelError
from om_api.store import commits, decoding, doubt, due, looking, quarantine, reading, writing
from om_api.tags import escape
from om_api.values import Message, Observation, Outcome, Scope, new_id
from om_workers.asking import patience_ms
from om_workers.halving import half
from om_workers.llm.base import Reply
from om_workers.mover import chunk_lock, turn_of
from om_workers.prompts.parse import Observed, parse_observer
from om_workers.prompts.render import observer_request

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from om_api.store.looking import Look
    from om_api.values import Chunk
    from om_workers.mover import Mover
    from om_workers.workshop import Workshop

# what every model can observe: asked before a message is blamed for what may be the model's fault
_HARMLESS = Message(id="om-harmless", role="user", content="My name is Ada, and I live in Graz.")


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
        keys, agent = self._shop.keys, self._shop.agent(scope)
        idle = read.look.paused or not agent.enabled or agent.read_only
        if idle or self._run(doubt.waits(keys, scope.resource)):
            return Outcome.REST
        attempts = self._run(commits.begin(keys, scope.resource, chunk_id))
        if attempts is None:
            return Outcome.SUPERSEDED
        if attempts > agent.observer.max_attempts:  # whoever tried before did not live to say why
            return self._isolate(read, "observing it ended the worker")
        return self._try(read, attempts, agent.observer.max_attempts)

    def _try(self, read: Reading, attempts: int, limit: int) -> Outcome:
        """One call. The last attempt shows nothing of what came before: that may be what the model chokes on."""
        try:
            reply, observed = self._think(read, alone=attempts == limit > 1)
        except ModelError as error:
            if error.retryable or attempts < limit:
                self._again(read, error)
                raise
            reason = str(error)
        else:
            return self._commit(read, reply, observed)
        if len(read.messages) == 1:
            self._make_sure(read, reason)
        return self._isolate(read, reason)

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

    def _think(self, read: Reading, *, alone: bool) -> tuple[Reply, Observed]:
        before = [observation.text for observation in read.before if observation.text]
        return self._ask(read.look.scope, read.messages, [] if alone else before, "" if alone else read.task)

    def _ask(
        self, scope: Scope, messages: list[Message], before: Sequence[str] = (), task: str = ""
    ) -> tuple[Reply, Observed]:
        agent = self._shop.agent(scope)
        request = observer_request(
            messages,
            before,
            previous_tokens=agent.observer.previous_tokens,
            instruction=agent.observer.instruction,
            timezone=agent.timezone,
            variant=agent.observer.prompt,
            prior_task=task,
            temperature=agent.observer.temperature,
            timeout=agent.observer.timeout,
            count=self._shop.count,
        )
        return self._shop.asking.ask(scope.resource, agent.observer_models, request, _usable)

    def _commit(self, read: Reading, reply: Reply, observed: Observed) -> Outcome:
        resource, chunk = read.look.scope.resource, read.chunk.id
        observation = _observation(read, observed, reply, self._shop.count(observed.text) if observed.text else 0)
        did = self._run(commits.buffer(self._shop.keys, resource, observation, new_id()))
        if did is Outcome.BUFFERED and commits.root(chunk) != chunk:
            self._run(doubt.observed(self._shop.keys, resource, chunk))
        return did

    def _again(self, read: Reading, error: ModelError) -> None:
        """Have a chunk tried again; no attempt is burned by what is the vendor's fault and not the chunk's."""
        keys, scope = self._shop.keys, read.look.scope
        if error.retryable:
            self._run(commits.begin(keys, scope.resource, read.chunk.id, -1))
            self._run(due.postpone(keys.due_observe, scope, self._run(due.server_ms()) + patience_ms(error)))
        else:
            self._run(due.mark(keys.due_observe, [scope]))

    # -- poison --------------------------------------------------------------------------------------------------------

    def _make_sure(self, read: Reading, reason: str) -> None:
        """Return when the model can observe something, so that the message is to blame; raise ModelError when it cannot.

        It can if a half of the same chunk was observed, else it is asked for what is harmless. Where that fails too, the
        model or its settings are to blame: nothing is quarantined, and the resource waits a while.
        """
        keys, resource = self._shop.keys, read.look.scope.resource
        if self._run(doubt.was_observed(keys, resource, read.chunk.id)):
            return
        try:
            self._ask(read.look.scope, [msgspec.structs.replace(_HARMLESS, at=read.messages[0].at)])
        except ModelError as error:
            fault = error if error.retryable else ModelError(_of_the_model(reason, error))
            self._again(read, fault)
            if error.retryable:
                raise
            self._run(doubt.wait(keys, resource))
            raise fault from error
        self._run(doubt.observed(keys, resource, read.chunk.id))

    def _isolate(self, read: Reading, reason: str) -> Outcome:
        """Halve a chunk that cannot be observed until the one message is found, and put a placeholder in its place."""
        return self._quarantine(read, reason) if len(read.messages) == 1 else self._halve(read)

    def _halve(self, read: Reading) -> Outcome:
        scope, chunk = read.look.scope, read.chunk
        turns = [turn_of(message, self._shop.count) for message in read.messages]
        n = half(turns, self._shop.in_force(scope).limits)
        tokens = min(sum(turn.tokens for turn in turns[:n]), chunk.tokens)
        attempts = self._shop.agent(scope).observer.max_attempts - 1
        return self._run(commits.split(self._shop.keys, scope, chunk, n, tokens, attempts))

    def _quarantine(self, read: Reading, reason: str) -> Outcome:
        keys, resource, chunk = self._shop.keys, read.look.scope.resource, read.chunk
        member = self._run(quarantine.sealed_member(keys, resource, chunk.id))
        if member is None:
            return Outcome.SUPERSEDED
        now = read.look.now
        entry = writing.rejection("unobservable", member, chunk.thread, reason[:500], now, observation=chunk.id)
        placeholder = _placeholder(read, reason, self._shop.count)
        did = self._run(commits.buffer(keys, resource, placeholder, new_id(), entry))
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


def _usable(reply: Reply) -> Observed:
    observed = parse_observer(reply.text)
    if not observed.readable or observed.degenerate:
        raise ModelError(f"{reply.model} gave no observations but a refusal or a loop", retryable=False)
    return observed


def _of_the_model(reason: str, error: ModelError) -> str:
    return (
        f"{reason[:300]}; and {str(error)[:300]} when asked for a harmless sentence: nothing was quarantined. Correct "
        f"observer_model or its settings; it is tried again every {doubt.WAIT_S // 60} minutes"
    )


def _placeholder(read: Reading, reason: str, count: Callable[[str], int]) -> Observation:
    (message,) = read.messages
    day = datetime.fromtimestamp(message.at / 1000, UTC)
    line = f"* 🔴 ({day:%H:%M}) One {message.role} message could not be observed: {' '.join(reason.split())[:500]}"
    text = f"Date: {day:%b} {day.day}, {day.year}\n{escape(line)}"
    observed = Observed(text=text, priority=5)
    reply = Reply(text=text, model=quarantine.PLACEHOLDER)
    return _observation(read, observed, reply, count(text))

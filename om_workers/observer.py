"""The Observer: seals what is due, has chunks observed, activates what is ready. It never decides whether, only when."""

from __future__ import annotations

import time
from datetime import UTC, datetime
from typing import TYPE_CHECKING, NamedTuple

from om_api import in_force, policy
from om_api.errors import ModelError
from om_api.policy import Pressure, Turn
from om_api.store import commits, due, reading, writing
from om_api.store.commits import Note
from om_api.store.due import Claim
from om_api.tags import escape
from om_api.values import Observation, Outcome, Scope, count_message, encode_message, new_id
from om_workers.llm.base import Reply
from om_workers.prompts.parse import Observed, parse_observer
from om_workers.prompts.render import observer_request

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from om_api.policy import Move
    from om_api.store.reading import Look
    from om_api.values import Chunk, Message
    from om_workers.workshop import Workshop

_MOVES = 12  # in one look; the next look goes on from there


class Observer:
    """One scope's way from raw messages to observations, a look or a chunk at a time."""

    def __init__(self, workshop: Workshop) -> None:
        self._shop = workshop
        self._run = workshop.run

    # -- looking at a scope -------------------------------------------------------------------------------------------

    def observe(self, name: str, lease: str = "") -> Outcome:
        """Make every move a scope is due, pass its sealed chunks on, and say done if nothing is left.

        Without a lease, or while chunks are unready, the due index keeps the scope: whoever comes next goes on.
        """
        scope = self._in_force(Scope.parse(name), lease)
        if scope is None:
            return Outcome.REST
        if self._shop.agent(scope).read_only:
            if lease:
                self._run(due.done(self._shop.keys.due_observe, Claim(name, lease)))
            return Outcome.REST
        with self._shop.heartbeat.lock(self._shop.lock_name(scope, "observe")) as mine:
            if not mine:
                return Outcome.BUSY
            return self._look_and_move(scope, Claim(name, lease) if lease else None)

    def _in_force(self, asked: Scope, lease: str) -> Scope | None:
        # A client may believe in another scope than the one in force: pass its mark on to who is meant.
        keys = self._shop.keys
        meant = self._run(reading.stored_scope(keys, asked.resource)) or self._shop.agent(asked).scope
        if (meant == "thread") == (asked.thread is not None):
            return asked
        threads = self._run(reading.look(keys, Scope(asked.resource))).unsealed if meant == "thread" else [None]
        self._run(due.mark(keys.due_observe, [Scope(asked.resource, thread) for thread in threads]))
        if lease:
            self._run(due.done(keys.due_observe, Claim(str(asked), lease)))
        return None

    def _look_and_move(self, scope: Scope, claim: Claim | None) -> Outcome:
        outcome, handled = Outcome.REST, set[str]()
        for _ in range(_MOVES):
            look = self._meet(scope)
            limits = self._shop.in_force(scope).limits
            forced, becomes = _forced(look, handled)
            pressure = pressure_of(look, forced)
            self._note(look, pressure, becomes)
            move = policy.decide(pressure, limits, look.now)
            # what activation brings about is seen first, before a model is asked again
            late = move.kind == "seal" and outcome is Outcome.ACTIVATED and not move.threads
            did = Outcome.REST if late else self._make(look, move)
            asked = set(look.forced) - handled
            handled |= asked
            if did is Outcome.REST and not (asked and move.kind == "seal"):
                return self._pass_on(look, pressure, claim, outcome, again=late or move.urgent)
            outcome = outcome if did is Outcome.REST else did
        self._run(due.mark(self._shop.keys.due_observe, [scope]))
        return outcome

    def _make(self, look: Look, move: Move) -> Outcome:
        if move.kind == "seal":
            return self.seal(look, move)
        return self._activate(look, move) if move.kind == "activate" else Outcome.REST

    def _meet(self, scope: Scope) -> Look:
        """Look at a scope; adopt first what nobody counted, and note when its threads were last heard of."""
        keys, shop = self._shop.keys, self._shop
        look = self._run(reading.look(keys, scope))
        threads = [scope.thread] if scope.thread else sorted(look.unsealed)
        heads = self._run(reading.heads(keys, scope.resource, threads))
        last = {thread: min(head.last, look.now) for thread, head in heads.items() if head.last}
        if any(at > look.thread_times.get(thread, 0) for thread, at in last.items()):
            self._run(reading.heard(keys, scope.resource, last))
        strays = [thread for thread, head in heads.items() if head.members != head.counted]
        for thread in strays:
            self._run(writing.adopt(keys, shop.clock, scope, thread, shop.count))
        if strays:
            return self._run(reading.look(keys, scope))
        return look._replace(thread_times={**look.thread_times, **last})

    def _note(self, look: Look, pressure: Pressure, becomes: Sequence[tuple[str, str, str]]) -> None:
        now = self._shop.in_force(look.scope)
        wake, limits = policy.wake(pressure, now.limits), in_force.write(now)
        if becomes or wake != look.wake or limits != look.record.limits:
            what = Note(limits, reading.wake_field(look.scope), wake, forced=becomes)
            self._run(commits.note(self._shop.keys, look.scope, look.record.epoch, what))

    def seal(self, look: Look, move: Move) -> Outcome:
        """Cut what a move names into chunks; `rest` when nothing may be cut, `superseded` when it changed under us."""
        keys, limits = self._shop.keys, self._shop.in_force(look.scope).limits
        raw = self._run(reading.raw_messages(keys, look.scope.resource, sorted(look.unsealed)))
        threads = {thread: [self._turn(message) for _, message in pairs] for thread, pairs in raw.items()}
        plan = policy.plan(threads, move, limits, look.now)
        outcome, epoch = Outcome.REST, look.record.epoch
        for thread, start, stop in plan:
            members = [member for member, _ in raw[thread][start:stop]]
            tokens = sum(turn.tokens for turn in threads[thread][start:stop])
            did = self._run(commits.seal(keys, look.scope, epoch, thread, members, tokens))
            if did is Outcome.SUPERSEDED:
                return did
            outcome, epoch = did, epoch or self._run(reading.look(keys, look.scope)).record.epoch
        return outcome

    def _turn(self, message: Message) -> Turn:
        calls, answers = message.call_ids("tool-call"), message.call_ids("tool-result")
        return Turn(count_message(message, self._shop.count), message.at, frozenset(calls), frozenset(answers))

    def _activate(self, look: Look, move: Move) -> Outcome:
        keys, now = self._shop.keys, self._shop.in_force(look.scope)
        epoch = look.record.epoch
        outcome = self._run(commits.activate(keys, look.scope, epoch, look.chunks, move.chunks, now.retention_s))
        record = self._run(reading.look(keys, look.scope)).record
        full = record.observation_tokens >= now.limits.reflect_from
        if full or record.observation_count >= now.limits.max_observations or record.drain:
            self._run(due.mark(keys.due_reflect, [look.scope]))
        return outcome

    def _pass_on(
        self, look: Look, pressure: Pressure, claim: Claim | None, outcome: Outcome, *, again: bool
    ) -> Outcome:
        keys, limits = self._shop.keys, self._shop.in_force(look.scope).limits
        self._run(due.looked(keys, look.scope.resource, look.now))
        waiting = limits.enabled and not limits.read_only and not look.paused
        if waiting and any(not chunk.ready for chunk in look.chunks):
            self._dispatch(look)
        elif again:
            self._run(due.mark(keys.due_observe, [look.scope]))
        elif claim:
            self._run(due.done(keys.due_observe, claim, policy.deadline(pressure, limits)))
        return outcome

    def _dispatch(self, look: Look) -> None:
        unready = [chunk for chunk in look.chunks if not chunk.ready]
        busy = self._run(reading.locked(self._shop.keys, look.scope.resource, [_lock(chunk.id) for chunk in unready]))
        room = self._shop.agent(look.scope).observer.max_parallel_chunks - sum(busy)
        met: set[str] = set()
        for chunk, locked in zip(unready, busy, strict=True):
            if not locked and chunk.thread not in met and room > 0:
                self._shop.dispatch.observe_chunk(str(look.scope), chunk.id)
                room -= 1
            met.add(chunk.thread)

    # -- observing a chunk --------------------------------------------------------------------------------------------

    def observe_chunk(self, name: str, chunk_id: str) -> Outcome:
        """Observe one sealed chunk, then make whatever move its scope is due by that."""
        scope = Scope.parse(name)
        lock = self._shop.keys.of(scope.resource).lock(_lock(chunk_id))
        with self._shop.heartbeat.lock(lock) as mine:
            outcome = self._observe_locked(scope, chunk_id) if mine else Outcome.BUSY
        if outcome in {Outcome.BUFFERED, Outcome.SPLIT, Outcome.REJECTED} and self.observe(name) is Outcome.BUSY:
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
        look = self._run(reading.look(self._shop.keys, scope))
        chunk = next((chunk for chunk in look.chunks if chunk.id == chunk_id), None)
        if chunk is None or chunk.ready:
            return None
        messages = self._run(reading.sealed_messages(self._shop.keys, scope.resource, chunk))
        stored = self._run(reading.observations(self._shop.keys, scope))
        pending = [reading.as_observation(c.observation) for c in look.chunks if c.observation]
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
            tokens = sum(self._turn(message).tokens for message in read.messages[:half])
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


def pressure_of(look: Look, forced: Mapping[str, float] | None = None) -> Pressure:
    """A look's pressure. A thread's last activity is the lesser of its last message's time and the server's."""
    own = {*look.unsealed, *(chunk.thread for chunk in look.chunks)}
    return Pressure(
        chunks=look.chunks,
        unsealed=look.unsealed,
        last_at={thread: min(look.thread_times.get(thread, look.now), look.now) for thread in own},
        observation_tokens=look.record.observation_tokens,
        observation_count=look.record.observation_count,
        drain=look.record.drain,
        forced=forced or {},
        paused=look.paused,
    )


def _forced(look: Look, handled: set[str]) -> tuple[dict[str, float], list[tuple[str, str, str]]]:
    """Forced requests as thread -> seq up to which chunks are wanted (0 = seal first), and what their fields become.

    A request `id` becomes `id@seq` once everything raw is sealed, and is answered when no chunk up to seq is left.
    """
    wanted: dict[str, float] = {}
    becomes: list[tuple[str, str, str]] = []
    threads = {*look.unsealed, *(chunk.thread for chunk in look.chunks)}
    for field, value in look.forced.items():
        if field == "force-reflect":
            continue
        mine = {field.partition(":")[2]} if ":" in field else threads
        request, at, anchor = value.partition("@")
        raw = any(look.unsealed.get(thread, (0, 0))[1] for thread in mine)
        if not at and raw and field not in handled:
            wanted.update(dict.fromkeys(mine, 0.0))
            continue
        seq = float(anchor) if at else look.record.seq
        open_ = any(chunk.seq <= seq and chunk.thread in mine for chunk in look.chunks)
        now = f"{request}@{seq:.17g}" if open_ else ""
        if now != value:
            becomes.append((field, value, now))
        if open_:
            wanted.update({thread: max(seq, wanted.get(thread, 0)) for thread in mine})
    return wanted, becomes


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
    text = f"Date: {day:%b} {day.day}, {day.year}\n* \U0001f534 ({day:%H:%M}) One {message.role} message could not be observed: {reason}"
    text = escape(" ".join(text[:600].split(" ")))
    observed = Observed(text=text, priority=5)
    reply = Reply(text=text, model="placeholder")
    return _observation(read, observed, reply, count(text))


def _lock(chunk: str) -> str:
    return f"chunk:{chunk}"

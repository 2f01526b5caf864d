"""Makes the moves a scope is due, seals and activates, and passes sealed chunks on. It decides when, never whether."""

import time
from collections.abc import Callable, Mapping, Sequence
from hashlib import blake2b
from typing import NamedTuple

import msgspec

from om_api.domain import chunking, policy
from om_api.domain.caching import LRU
from om_api.domain.chunking import RawMessage
from om_api.domain.message_tokens import count_message
from om_api.domain.messages import Message
from om_api.domain.policy import Move, Pressure
from om_api.domain.tool_calls import OwnCalls, exchanges
from om_api.domain.values import Chunk, Outcome, Scope, new_id
from om_api.domain.wire import encode_message
from om_api.settings import recorded_settings
from om_api.settings.sections.redaction_settings import RedactionSettings
from om_api.store.memory import (
    activate,
    clear,
    decoding,
    due,
    model_cooldown,
    note,
    reading,
    requests,
    scope_state,
    seal,
)
from om_api.store.memory.adopt import adopt
from om_api.store.memory.amend import instead
from om_api.store.memory.due import Claim
from om_api.store.memory.note import Decided
from om_api.store.memory.scope_state import ScopeState
from om_api.telemetry import spans
from om_workers.process.event_publisher import ChunkSummary
from om_workers.work.backlog import oldest
from om_workers.work.sealed import batches
from om_workers.work.services import Services
from om_workers.work.sharing import Sharing

_OWN_CALLS = 100  # ids that are stored of one thread
_MOVES = 12  # in one look; the next look goes on from there
_MOST_REDACTED = 256 * 1024  # bytes of raw messages that a seal redacts, or one message
_REDACTED: LRU[bytes, bool] = LRU(65_536)  # digests of messages in which nothing is left to redact


class LookResult(NamedTuple):
    """What a look at a scope came to, and what it saw last; `chunks` whoever asked for it is to observe in one call.

    `error` names what ended one that failed, and never says what it said.
    """

    outcome: Outcome
    chunks: tuple[str, ...] = ()
    seen: ScopeState | None = None
    error: str = ""


class SealOutcome(NamedTuple):
    """The outcome of a seal, and the ids of the chunks it made.

    `rest` when nothing may be cut, `superseded` when the memory changed. `more`: the move has messages left to cut, or to
    redact when it is superseded.
    """

    outcome: Outcome = Outcome.REST
    chunks: Sequence[str] = ()
    more: bool = False


class ScopeWorker:
    """One scope's next moves, decided by policy and made by scripts. No model is asked here."""

    def __init__(self, services: Services) -> None:
        self._services = services
        self._run = services.run

    def observe(self, name: str, until: float = 0.0, seen: ScopeState | None = None) -> LookResult:
        """Make every move a scope is due, hand its sealed chunks out, and say done if nothing is left.

        Until then, or while chunks are unready, the due index keeps the scope: whoever comes next goes on. Before `until`
        (monotonic s) the first chunks that are to be observed in one call are left to the caller. For the others the scope is
        due again at once, so that another task finds them: it stands in the queue once. What was `seen` saves a round trip.
        """
        scope, index = Scope.parse(name), self._services.keys.due_observe
        lock = self._services.lock_name(scope, "observe")
        with self._services.heartbeat.lock(lock) as mine:
            if not mine:
                self._run(due.when_free(index, scope, lock))
                return LookResult(Outcome.BUSY)
            claim, agent = self._run(due.take(index, scope)), self._services.agent(scope)
            state = self._met(scope, *_names(seen), seals=agent.enabled)
            word = state.word or agent.scope
            if (word == "thread") != (scope.thread is not None):
                self._hand_on(scope, word)
            elif not agent.read_only:
                return self._move(state, claim, until)
            if claim:
                self._run(due.done(index, claim))
            return LookResult(Outcome.REST)

    def _hand_on(self, asked: Scope, word: str) -> None:
        # A client may believe in another scope than the one in force: pass its mark on to who is meant.
        keys = self._services.keys
        threads = self._run(clear.threads_of(keys, asked.resource)) if word == "thread" else [None]
        scopes = [Scope(asked.resource, thread) for thread in threads]
        self._run(requests.hand_on(keys, asked, self._run(requests.requests(keys, asked)), scopes))
        self._run(due.mark(keys.due_observe, scopes))

    def _move(self, state: ScopeState, claim: Claim | None, until: float) -> LookResult:
        outcome, handled, limits = Outcome.REST, set[str](), self._services.in_force(state.scope).limits
        for _ in range(_MOVES):
            state = self._adopted(state)
            forced, becomes = _forced(state, handled)
            pressure = pressure_of(state, forced)
            move = policy.decide(pressure, limits, state.now)
            # what activation brings about is seen first, before a model is asked again
            late = move.kind == "seal" and outcome is Outcome.ACTIVATED and not move.threads
            did, cut, more = SealOutcome() if late else self._make(state, move)
            asked = set(state.forced) - handled if move.kind == "seal" and move.threads else set[str]()
            handled |= set() if more else asked  # what was asked for is sealed once nothing of it is left
            ends = did is Outcome.REST and (more or not asked)
            if ends or becomes:
                self._note(state, pressure, becomes)
            if ends:
                return self._pass_on(state, pressure, claim, until, outcome, again=late or move.urgent)
            outcome = outcome if did is Outcome.REST else did
            if did is Outcome.SUPERSEDED and more:
                break
            state = self._again(state, cut)
            if move.kind == "activate":
                self._reflect_if_full(state)
                Sharing(self._services).share(state)
        self._run(due.mark(self._services.keys.due_observe, [state.scope]))
        return LookResult(outcome)

    def _make(self, state: ScopeState, move: Move) -> SealOutcome:
        if move.kind == "seal":
            return self.seal(state, move)
        return SealOutcome(self._activate(state, move)) if move.kind == "activate" else SealOutcome()

    def _met(self, scope: Scope, chunks: Sequence[str], threads: Sequence[str], *, seals: bool = False) -> ScopeState:
        keep = self._services.in_force(scope).limits.min_recent_messages
        return self._run(scope_state.meet(self._services.keys, scope, chunks, threads, seals=seals, keep=keep))

    def _again(self, state: ScopeState, cut: Sequence[str] = ()) -> ScopeState:
        chunks, threads = _names(state)
        return self._met(state.scope, [*chunks, *cut], threads)

    def _adopted(self, state: ScopeState) -> ScopeState:
        """The state, after what nobody counted was adopted."""
        services, scope = self._services, state.scope
        strays = [thread for thread, raw in state.raw.items() if raw.members != raw.counted]
        go_on = services.stopping.go_on
        redaction = services.redacting.of_plain_writers(scope.resource, go_on) if strays else None
        for thread in strays:
            adopted = self._run(adopt(services.keys, services.clock, scope.resource, thread, services.count, redaction))
            services.events.adopted(scope.resource, thread, adopted)
        return self._again(state) if strays else state

    def _note(self, state: ScopeState, pressure: Pressure, becomes: Sequence[tuple[str, str, str]]) -> None:
        now = self._services.in_force(state.scope)
        wake, limits = policy.wake(pressure, now.limits), recorded_settings.write(now)
        if becomes or wake != state.wake or limits != state.record.limits:
            what = Decided(limits, scope_state.wake_field(state.scope), wake, forced=becomes)
            self._run(note.note(self._services.keys, state.scope, state.record.epoch, what))

    def seal(self, state: ScopeState, move: Move) -> SealOutcome:
        """Cut the oldest raw messages of a move's threads into chunks."""
        keys, scope = self._services.keys, state.scope
        raw, unread = oldest(self._services, state, move)
        changed, left = self._redact(scope.resource, [message for pairs in raw.values() for _, message in pairs])
        if changed or left:
            return SealOutcome(Outcome.SUPERSEDED, more=left)
        turns = {
            thread: turns_of([message for _, message in pairs], self._services.count) for thread, pairs in raw.items()
        }
        outcome, epoch, fresh, cut = Outcome.REST, state.record.epoch, new_id(), list[ChunkSummary]()
        limits = self._services.in_force(scope).limits
        for thread, start, stop in chunking.plan(turns, move, limits, state.now, unread):
            members = [member for member, _ in raw[thread][start:stop]]
            tokens = sum(turn.tokens for turn in turns[thread][start:stop])
            one = ChunkSummary(thread, new_id(), len(members), tokens)
            own_calls = self._own_calls(scope.resource, thread, [message for _, message in raw[thread][start:stop]])
            outcome = self._run(
                seal.seal(keys, scope, epoch, thread, members, one.message_tokens, one.chunk, fresh, own_calls)
            )
            if outcome is Outcome.SUPERSEDED:
                break
            epoch = epoch or fresh
            cut.append(one)
        self._services.events.sealed(scope, cut)
        more = (
            any(unread.values()) or len(cut) >= move.most or not set(move.threads) & state.unsealed.keys() <= raw.keys()
        )
        return SealOutcome(outcome, [one.chunk for one in cut], more=more)

    def _own_calls(self, resource: str, thread: str, messages: Sequence[Message]) -> list[str]:
        """The ids of own tools' calls in chunks without their results, with those of these messages; [] if these have none."""
        own = OwnCalls()
        for message in messages:
            own.without(message)
        if not own.open:
            return []
        known = self._run(reading.own_calls(self._services.keys, resource, [thread]))[thread]
        return [*known, *own.open][-_OWN_CALLS:]

    def _redact(self, resource: str, messages: Sequence[Message]) -> tuple[bool, bool]:
        """Redact raw messages that a client without this setting pushed: whether any changed, and whether any are left.

        Redaction can take seconds for each message. Each is stored before the next one is redacted, so a worker that ends loses
        the work of one message. Raises StoppedError between messages once the process is asked to stop.
        """
        services, changed, size = self._services, False, 0
        if services.redacting.before_store(resource) is None:
            return False, False
        rules = services.settings.for_agent(resource).redaction
        for message in messages:
            digest, length = _redaction_digest(rules, message)
            if digest in _REDACTED:
                continue
            if size and size + length > _MOST_REDACTED:
                return changed, True
            services.stopping.go_on()
            size += length
            cleaned = services.redacting.message(message)
            if cleaned is not message:
                services.redacting.prepared(resource, encode_message(cleaned))
                self._run(services.redacting.kept(resource))
                changed |= self._run(instead(services.keys, cleaned, services.count))
            _REDACTED.put(_redaction_digest(rules, cleaned)[0], value=True)
        return changed, False

    def _activate(self, state: ScopeState, move: Move) -> Outcome:
        ttl_s, epoch = self._services.in_force(state.scope).retention_s, state.record.epoch
        with spans.committing(state.scope, decoding.made_by(state.chunks, move.chunks)) as span:
            outcome = self._run(
                activate.activate(
                    self._services.keys,
                    state.scope,
                    epoch,
                    state.chunks,
                    move.chunks,
                    ttl_s,
                    read_at=state.now,
                    count=self._services.count,
                )
            )
            span.note(outcome=outcome, chunks=len(move.chunks))
        if outcome is Outcome.ACTIVATED:
            self._services.events.activated(state.scope, state.chunks, move.chunks)
        return outcome

    def _reflect_if_full(self, state: ScopeState) -> None:
        record, limits = state.record, self._services.in_force(state.scope).limits
        if policy.is_full(record.observation_tokens, record.observation_count, limits) or record.drain:
            self._run(due.mark(self._services.keys.due_reflect, [state.scope]))

    def _pass_on(
        self, state: ScopeState, pressure: Pressure, claim: Claim | None, until: float, outcome: Outcome, *, again: bool
    ) -> LookResult:
        index, limits = self._services.keys.due_observe, self._services.in_force(state.scope).limits
        waiting = limits.enabled and not limits.read_only and not state.paused
        unready = [chunk for chunk in state.chunks if waiting and not chunk.ready]
        locks = [model_cooldown.LOCK, *(chunk_lock(chunk.id) for chunk in unready)]
        held = self._run(scope_state.leave(self._services.keys, state, locks))
        if unready:
            return LookResult(outcome, self._hand_out(state, unready, held, until), state)
        if again:
            self._run(due.mark(index, [state.scope]))
        elif claim:
            self._run(due.done(index, claim, policy.deadline(pressure, limits, state.now)))
        return LookResult(outcome, (), state)

    def _hand_out(
        self, state: ScopeState, unready: Sequence[Chunk], held: Sequence[int], until: float
    ) -> tuple[str, ...]:
        """Have unready chunks observed that nobody has at hand; the first of them the caller may observe himself."""
        index, observer, (waits, *busy) = (
            self._services.keys.due_observe,
            self._services.agent(state.scope).observer,
            held,
        )
        if any(held):  # should its holder be dead, another lease is not waited for
            ends = state.now + (waits or min(filter(None, busy))) + 1
            self._run(due.sooner(index, state.scope, ends))
        if waits:
            return ()
        first = {chunk.thread: (chunk, locked) for chunk, locked in reversed([*zip(unready, busy, strict=True)])}
        free = sorted((chunk for chunk, locked in first.values() if not locked), key=lambda chunk: chunk.seq)
        room = observer.max_parallel_chunks - sum(map(bool, busy))
        groups = batches(free, observer.max_tokens_per_batch if observer.max_attempts > 1 else 0)[: max(0, room)]
        own = groups.pop(0) if groups and time.monotonic() < until else []
        if groups:
            since = min(chunk.sealed_at for group in groups for chunk in group)
            self._run(due.mark(index, [state.scope], since=since))
        return tuple(chunk.id for chunk in own)


def _redaction_digest(rules: RedactionSettings, message: Message) -> tuple[bytes, int]:
    """What redaction by these rules reads of a message, as a digest, and its bytes."""
    text = msgspec.json.encode((message.content, message.metadata, message.name), enc_hook=str)
    how = repr((rules.kinds, rules.region, rules.engine)).encode()
    return blake2b(how + b"\0" + text, digest_size=16).digest(), len(text)


def _names(seen: ScopeState | None) -> tuple[list[str], list[str]]:
    """The chunks and threads of a state: what the next look asks for at once."""
    return ([chunk.id for chunk in seen.chunks], sorted(seen.raw)) if seen else ([], [])


def pressure_of(state: ScopeState, forced: Mapping[str, float] | None = None) -> Pressure:
    """A scope's pressure. A thread's last activity is the lesser of its last message's time and the server's.

    A thread that the look did not read counts as active now.
    """
    unread = state.unsealed.keys() - state.raw if state.raw else ()
    times = {**state.thread_times, **state.last, **dict.fromkeys(unread, state.now)}
    own = {*state.unsealed, *(chunk.thread for chunk in state.chunks)}
    last_at = {thread: min(times.get(thread, state.now), state.now) for thread in own}
    return Pressure(
        chunks=state.chunks,
        unsealed=state.unsealed,
        last_at=last_at,
        observation_tokens=state.record.observation_tokens,
        observation_count=state.record.observation_count,
        drain=state.record.drain,
        forced=forced or {},
        paused=state.paused,
        cached_at=max(last_at.values(), default=0),
        reflection_tokens=state.record.reflection_tokens,
    )


def _forced(state: ScopeState, handled: set[str]) -> tuple[dict[str, float], list[tuple[str, str, str]]]:
    """Forced requests as thread -> seq up to which chunks are wanted (0 = seal first), and what their fields become.

    A request `id` becomes `id@seq` once everything raw is sealed, and is answered when no chunk up to seq is left.
    """
    wanted: dict[str, float] = {}
    becomes: list[tuple[str, str, str]] = []
    threads = {*state.unsealed, *(chunk.thread for chunk in state.chunks)}
    for field, value in state.forced.items():
        if field == "force-reflect":
            continue
        mine = {field.partition(":")[2]} if ":" in field else threads
        request, at, anchor = value.partition("@")
        raw = any(state.unsealed.get(thread, (0, 0))[1] for thread in mine)
        if not at and raw and field not in handled:
            wanted.update(dict.fromkeys(mine, 0.0))
            continue
        seq = float(anchor) if at else state.record.seq
        open_ = any(chunk.seq <= seq and chunk.thread in mine for chunk in state.chunks)
        now = f"{request}@{seq:.17g}" if open_ else ""
        if now != value:
            becomes.append((field, value, now))
        if open_:
            wanted.update({thread: max(seq, wanted.get(thread, 0)) for thread in mine})
    return wanted, becomes


def turns_of(messages: Sequence[Message], count: Callable[[str], int]) -> list[RawMessage]:
    """What cutting needs to know of a thread's messages."""
    pairs = zip(messages, exchanges(messages), strict=True)
    return [RawMessage(count_message(message, count), message.at, *exchange) for message, exchange in pairs]


def chunk_lock(chunk: str) -> str:
    """The lock of a chunk while it is observed."""
    return f"chunk:{chunk}"

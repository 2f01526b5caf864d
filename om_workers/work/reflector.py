"""The Reflector: condenses observations into the next generation, ahead of need where it can."""

import time
from collections.abc import Sequence
from functools import partial
from typing import NamedTuple

import msgspec

from om_api.domain import policy
from om_api.domain.errors import ModelError
from om_api.domain.learned import learned
from om_api.domain.notes.pins import Notes, Pin, needed, pins_of, with_pins
from om_api.domain.policy import Move
from om_api.domain.values import Generation, Outcome, Scope, Stored
from om_api.settings import MemorySettings, ModelSettings
from om_api.store.driver.steps import batch
from om_api.store.memory import due, note, reading, reflect, scope_state
from om_api.store.memory.note import Decided
from om_api.store.memory.scope_state import ScopeState
from om_workers.calls.model_calls import patience_ms
from om_workers.llm.base import Request
from om_workers.process.stopping import StoppedError
from om_workers.prompts.render import reflector_request
from om_workers.prompts.threads import thread_section
from om_workers.prompts.wording import let_go
from om_workers.work.condensing import USUAL, Condensed, Condensing, Task, usable
from om_workers.work.scope_worker import ScopeWorker, pressure_of
from om_workers.work.services import Services

_LEAST_TARGET = 100
_PINNED_MEANWHILE = 4  # times, within one commit
_NOTHING = "* Nothing worth noting so far."


class Reflector:
    """One scope's way from observations to the next generation."""

    def __init__(self, services: Services) -> None:
        self._services = services
        self._run = services.run
        self._worker = ScopeWorker(services)

    def reflect(self, name: str) -> Outcome:
        """Make the one move a scope's observations are due; it is held while the model thinks.

        Raises StoppedError when this process stops meanwhile: the scope is due now then.
        """
        try:
            return self._reflect(Scope.parse(name))
        except StoppedError:  # only now that its lock is free: who finds it would wait for its end
            self._run(due.mark(self._services.keys.due_reflect, [name]))
            raise

    def _reflect(self, scope: Scope) -> Outcome:
        index = self._services.keys.due_reflect
        locks, lock = self._services.heartbeat, self._services.lock_name(scope, "reflect")
        with locks.lock(lock) as mine:
            if not mine:
                self._run(due.when_free(index, scope, lock))
                return Outcome.BUSY
            with locks.lease(index, self._run(due.take(index, scope))) as held:
                outcome = self._move(scope)
                claim = held.claim if held else None
        if claim and outcome in {Outcome.REST, Outcome.REFLECTED, Outcome.BUFFERED}:
            self._run(due.done(index, claim))
        return outcome

    def _move(self, scope: Scope) -> Outcome:
        read = self._read(scope)
        limits = self._services.in_force(scope).limits
        forced = read.state.forced.get("force-reflect", "")
        drafted = _draft(read)
        kind = policy.reflection(pressure_of(read.state), limits, drafted=drafted is not None, forced=bool(forced))
        if kind == "drain":
            return self._drain(read)
        if kind != "rest" and self._given_up(read):
            kind = "rest"
        if kind == "rest":
            outcome = Outcome.REST
        elif kind == "draft":
            n = policy.oldest_prefix([stored.observation.tokens for stored in read.stored], limits.reflect_from)
            outcome = self._keep_draft(read, *self._think(read, read.stored[:n]))
        else:
            draft, began = (drafted, None) if drafted and not forced else self._think(read, read.stored)
            outcome = self._commit(read, draft, began)
        if forced and outcome is not Outcome.SUPERSEDED:
            self._note(read.state, forced=[("force-reflect", forced, "")])
        return outcome

    def _given_up(self, read: "ReflectionInput") -> bool:
        """Whether this very memory was tried in vain too often; it is tried again when it changed, or in an hour."""
        scope, record = read.state.scope, read.state.record
        tries = self._run(reflect.failures(self._services.keys, scope, f"{record.generation}:{record.seq:.17g}"))
        return tries >= self._services.agent(scope).observer.max_attempts

    def _read(self, scope: Scope) -> "ReflectionInput":
        keys = self._services.keys
        beside = batch(reading.observations(keys, scope), reading.generations(keys, scope, newest=1))
        state, (stored, generations) = self._run(scope_state.look_beside(keys, scope, beside))
        return ReflectionInput(state, stored, generations[-1] if generations else None)

    def _drain(self, read: "ReflectionInput") -> Outcome:
        """Have what is raw by now observed and activated first, so that each thread's current task is known."""
        state, keys = read.state, self._services.keys
        if not state.record.drain:
            limits, threads = self._services.in_force(state.scope).limits, tuple(sorted(state.unsealed))
            move = Move("seal", threads=threads, keep=limits.min_recent_messages)
            outcome, cut = self._worker.seal(state, move) if threads else (Outcome.REST, [])
            if outcome is Outcome.SUPERSEDED:
                return outcome
            state = self._run(scope_state.look(keys, state.scope, [*(chunk.id for chunk in state.chunks), *cut]))
            self._note(state, drain=state.record.seq)
        self._run(due.mark(keys.due_observe, [state.scope]))
        return Outcome.SEALED

    def _think(self, read: "ReflectionInput", replaced: Sequence[Stored]) -> "tuple[Draft, float]":
        """Condense, and on a failure write down what it means: too often in vain is given up, a 429 is waited for.

        Beside the draft it returns the moment in which the model was asked.
        """
        scope, record = read.state.scope, read.state.record
        try:
            return self._condense(read, replaced)
        except ModelError as error:
            if not error.retryable:
                self._run(reflect.failed(self._services.keys, scope, f"{record.generation}:{record.seq:.17g}"))
            else:
                at = self._run(due.server_ms()) + patience_ms(error)
                self._run(due.postpone(self._services.keys.due_reflect, scope, at))
            raise

    def _condense(self, read: "ReflectionInput", replaced: Sequence[Stored]) -> "tuple[Draft, float]":
        scope, agent = read.state.scope, self._services.agent(read.state.scope)
        texts = _texts(read, replaced)
        size = sum(map(self._services.count, texts))
        pins = _needed(read, replaced)
        keep = partial(with_pins, pins=pins, pooled=scope.thread is None)
        stays = self._services.count(keep("")) if pins else 0  # of which nothing can be condensed
        most = self._services.in_force(scope).limits.observation_threshold // 2
        target = stays + max(_LEAST_TARGET, min(int((size - stays) * USUAL), most - stays))
        start = 0 if "force-reflect" in read.state.forced else self._start_level(agent)
        task = Task(texts, size, target, start, agent.reflection.max_loss)
        began = self._services.events.reflecting(scope, read.state.record.generation + 1, len(replaced), size)
        ask = partial(self._services.models.ask, scope.resource, agent.reflector_models, read=usable)
        form = partial(_request, agent, task, [pin.text for pin in pins])
        found = Condensing(task, form, ask, self._services.count, keep).condense()
        return _drafted(read, replaced, size, found), began

    def _start_level(self, agent: MemorySettings) -> int:
        name = self._services.registry.model(agent.reflector_models).name
        return (self._services.settings.models.get(name) or ModelSettings()).start_level

    def _keep_draft(self, read: "ReflectionInput", draft: "Draft", began: float) -> Outcome:
        record, scope = read.state.record, read.state.scope
        ttl = self._services.in_force(scope).retention_s
        outcome = self._run(
            reflect.draft(self._services.keys, scope, record.epoch, record.generation, msgspec.json.encode(draft), ttl)
        )
        if outcome is Outcome.BUFFERED:
            self._services.events.drafted(scope, draft.generation, began)
        return outcome

    def _commit(self, read: "ReflectionInput", draft: "Draft", began: float | None) -> Outcome:
        """Make a draft the next generation, with what was pinned since it was thought: no model is asked again for that."""
        for _ in range(_PINNED_MEANWHILE):
            draft = self._with_pins(read, draft)
            outcome = self._committed(read, draft, began)
            if outcome is not Outcome.SUPERSEDED:
                break
            now = self._read(read.state.scope)
            if now.state.record.pins == read.state.record.pins or not _fits(draft, read, now):
                break
            read = now
        return outcome

    def _with_pins(self, read: "ReflectionInput", draft: "Draft") -> "Draft":
        replaced = [stored for stored in read.stored if stored.seq in draft.seqs]
        pooled = read.state.scope.thread is None
        text = with_pins(draft.generation.text, _needed(read, replaced), pooled=pooled)
        if text == draft.generation.text:
            return draft
        made = msgspec.structs.replace(draft.generation, text=text, tokens=self._services.count(text))
        return msgspec.structs.replace(draft, generation=made)

    def _committed(self, read: "ReflectionInput", draft: "Draft", began: float | None) -> Outcome:
        scope, agent = read.state.scope, self._services.agent(read.state.scope)
        replaced = [stored for stored in read.stored if stored.seq in draft.seqs]
        ttl = self._services.in_force(scope).retention_s
        outcome = self._run(
            reflect.reflect(
                self._services.keys,
                scope,
                read.state.record,
                draft.generation,
                replaced,
                agent.max_reflections,
                ttl,
            )
        )
        if outcome is Outcome.REFLECTED:
            self._services.events.reflected(scope, draft.generation, began)
        return outcome

    def _note(self, state: ScopeState, drain: float | None = None, forced: Sequence[tuple[str, str, str]] = ()) -> None:
        wake = policy.wake(pressure_of(state), self._services.in_force(state.scope).limits)
        what = Decided(state.record.limits, scope_state.wake_field(state.scope), wake, drain, forced)
        self._run(note.note(self._services.keys, state.scope, state.record.epoch, what))


class ReflectionInput(NamedTuple):
    """What was read before a reflection is thought about."""

    state: ScopeState
    stored: list[Stored]
    generation: Generation | None

    @property
    def pins(self) -> tuple[Pin, ...]:
        """The lines that are pinned."""
        return pins_of(self.state.record.pins)


@learned
class Draft(msgspec.Struct, frozen=True):
    """A reflection that was thought of: the generation it makes, and the seqs of the observations it replaces."""

    generation: Generation
    seqs: tuple[float, ...]


def _draft(read: ReflectionInput) -> Draft | None:
    if not read.state.draft:
        return None
    draft = msgspec.json.decode(read.state.draft, type=Draft)
    known = {stored.seq for stored in read.stored}
    fits = draft.generation.n == read.state.record.generation + 1 and known.issuperset(draft.seqs)
    return draft if fits else None


def _fits(draft: Draft, read: ReflectionInput, now: ReflectionInput) -> bool:
    """Whether a draft was made of what is there now too, but for what is pinned."""
    was, made = read.state.record, {stored.member for stored in read.stored if stored.seq in draft.seqs}
    return (was.epoch, was.generation) == (now.state.record.epoch, now.state.record.generation) and made.issubset(
        stored.member for stored in now.stored
    )


def _needed(read: ReflectionInput, replaced: Sequence[Stored]) -> list[Pin]:
    """The pinned lines that a text must hold which takes the place of observations, and of the generation before."""
    scope, before = read.state.scope, [read.generation] if read.generation else []
    seqs = {stored.seq for stored in replaced}
    goes = Notes.of(before, [stored.observation for stored in replaced], scope)
    stays = Notes.of([], [stored.observation for stored in read.stored if stored.seq not in seqs], scope)
    return needed(read.pins, goes, stays)


def _drafted(read: ReflectionInput, replaced: Sequence[Stored], size: int, found: Condensed) -> Draft:
    best = found.best
    generation = Generation(
        n=read.state.record.generation + 1,
        text=best.said.text,
        created_at=int(time.time() * 1000),
        tokens=best.tokens,
        input_tokens=size,
        observation_ids=tuple(stored.observation.id for stored in replaced),
        dropped_ids=_dropped(read, replaced, best.said.text),
        patterns=best.said.patterns,
        insights=best.said.insights,
        level=best.level,
        loss=best.loss,
        candidates=found.candidates,
        model=best.model,
        cost=found.cost,
    )
    return Draft(generation, tuple(stored.seq for stored in replaced))


def _dropped(read: ReflectionInput, replaced: Sequence[Stored], text: str) -> tuple[str, ...]:
    """The observations of which nothing is left in a text."""
    before = [read.generation.text] if read.generation else []
    gone = let_go([stored.observation.text for stored in replaced], text, before)
    return tuple(stored.observation.id for stored, dropped in zip(replaced, gone, strict=True) if dropped)


def _texts(read: ReflectionInput, replaced: Sequence[Stored]) -> list[str]:
    """What is condensed, oldest first: the generation in force, then the observations with their threads."""
    texts = [read.generation.text] if read.generation and read.generation.text else []
    texts += [
        one.text if read.state.scope.thread is not None else thread_section(one.thread_id, one.text)
        for one in (stored.observation for stored in replaced)
        if one.text
    ]
    return texts or [_NOTHING]


def _request(agent: MemorySettings, task: Task, pinned: Sequence[str], level: int, dropped: Sequence[str]) -> Request:
    return reflector_request(
        task.texts,
        target_tokens=task.target,
        level=level,
        instruction=agent.reflection.instruction,
        temperature=agent.reflection.temperature,
        timeout=agent.reflection.timeout,
        timezone=agent.timezone,
        variant=agent.reflection.prompt,
        dropped=dropped,
        pinned=pinned,
    )

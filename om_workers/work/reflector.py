"""The Reflector: condenses observations into the next generation, ahead of need where it can."""

import time
from collections.abc import Callable, Mapping, Sequence
from contextlib import ExitStack
from functools import partial
from typing import Any, NamedTuple

from msgspec.structs import replace

from om_api.domain import policy
from om_api.domain.errors import HookError, ModelError
from om_api.domain.kept.extractors import Extracted
from om_api.domain.notes.catalogue import Catalogued, written
from om_api.domain.notes.pins import with_pins
from om_api.domain.policy import Move
from om_api.domain.values import Generation, Outcome, Scope, Stored
from om_api.settings import MemorySettings, ModelSettings
from om_api.store.memory import due, note, reflect, scope_state
from om_api.store.memory.note import Decided
from om_api.store.memory.scope_state import ScopeState
from om_api.store.reviews.drafts import Draft, ReflectionInput, reflection_input
from om_workers.calls.model_calls import patience_ms
from om_workers.llm.base import Reply, Request
from om_workers.process.stopping import StoppedError
from om_workers.prompts.parse import Reflected
from om_workers.prompts.render import reflector_request
from om_workers.prompts.threads import thread_section
from om_workers.prompts.wording import let_go
from om_workers.trust.earlier import judge_of
from om_workers.trust.noting import requoted
from om_workers.work import extracting
from om_workers.work.answers import AnswerReader
from om_workers.work.committing import Committer, Thought
from om_workers.work.condensing import USUAL, Condensed, Task, UsableAnswer
from om_workers.work.hooked import Hooks
from om_workers.work.reflection_parts import ReflectionMeans, condense
from om_workers.work.scope_worker import ScopeWorker, SealOutcome, pressure_of
from om_workers.work.services import Services
from om_workers.work.setting_aside import set_aside

_LEAST_TARGET = 100
_NOTHING = "* Nothing worth noting so far."
_ENDS = {Outcome.REST, Outcome.REFLECTED, Outcome.BUFFERED, Outcome.PROPOSED}  # what leaves nothing to do now


_COOLS_MS = 60_000  # what a hook refuses is paid for each time


class Settled(NamedTuple):
    """What a move came to, and when (server ms) the scope is due again though nobody marks it."""

    outcome: Outcome
    later: int | None = None


class Awaiting(NamedTuple):
    """What was thought and is to be seen by hooks, once no lock is held, before it is kept for later or settled."""

    read: ReflectionInput
    thought: Thought
    kept: bool
    forced: str


class Reflector:
    """One scope's way from observations to the next generation."""

    def __init__(self, services: Services) -> None:
        self._services = services
        self._run = services.run
        self._worker = ScopeWorker(services)
        self._committer = Committer(services)
        self._hooks = Hooks(services)

    def reflect(self, name: str) -> Outcome:
        """Make the one move a scope's observations are due; it is held while the model thinks.

        Raises StoppedError when this process stops meanwhile: the scope is due now then; HookError where a hook has it stop:
        then in a while.
        """
        try:
            return self._reflect(Scope.parse(name))
        except HookError:
            at = self._run(due.server_ms()) + _COOLS_MS
            self._run(due.postpone(self._services.keys.due_reflect, Scope.parse(name), at))
            raise
        except StoppedError:  # only now that its lock is free: who finds it would wait for its end
            self._run(due.mark(self._services.keys.due_reflect, [name]))
            raise

    def _reflect(self, scope: Scope) -> Outcome:
        """Hooks see what is to be condensed before the lock is taken, and what became of it once that is free."""
        index, texts = self._services.keys.due_reflect, self._before(scope)
        locks, lock = self._services.heartbeat, self._services.lock_name(scope, "reflect")
        with ExitStack() as leased:
            with locks.lock(lock) as mine:
                if not mine:
                    self._run(due.when_free(index, scope, lock))
                    return Outcome.BUSY
                held = leased.enter_context(locks.lease(index, self._run(due.take(index, scope))))
                came = self._move(scope, texts)
            outcome, later = came if isinstance(came, Settled) else self._after(came)
            claim = held.claim if held else None
        if claim and outcome in _ENDS:
            self._run(due.done(index, claim, later))
        return outcome

    def _before(self, scope: Scope) -> Mapping[str, str] | None:
        """What is to be condensed as hooks want it read, by what it says; None where nothing asks them."""
        if not self._hooks.any(scope, "before_reflect"):
            return None
        read = self._run(reflection_input(self._services.keys, scope))
        forced = bool(read.state.forced.get("force-reflect"))
        kind = self._kind(read, forced=forced)
        if kind in {"rest", "drain"} or self._sets_aside(read) or self._ready(read, kind, forced=forced):
            return {}
        shown = _shown(read.stored, self._services.agent(scope))
        return self._hooks.texts(scope, _texts(_catalogued(read).without_entries(), read, shown))

    def _after(self, came: Awaiting) -> Settled:
        """Keep, or settle, what hooks make of what was thought."""
        read, thought = came.read, came.thought
        thought = thought._replace(draft=self._hooks.reflected(read, thought.draft))
        return self._settle(came._replace(thought=thought))

    def _move(self, scope: Scope, texts: Mapping[str, str] | None) -> Settled | Awaiting:
        """Make the move; of what a model is to think of, `texts` are what hooks want it to read."""
        read = self._run(reflection_input(self._services.keys, scope))
        forced, review = read.state.forced.get("force-reflect", ""), read.review
        kind = self._kind(read, forced=bool(forced))
        if kind == "drain":
            return Settled(self._drain(read))
        if kind == "rest":
            if review.waits:
                self._committer.remind(read)
            return self._noted(read, forced, Settled(Outcome.REST, review.expires_at if review.waits else None))
        if self._sets_aside(read):
            return self._noted(read, forced, Settled(self._set_aside(read, everything=bool(forced))))
        if ready := self._ready(read, kind, forced=bool(forced)):
            return self._settle(Awaiting(read, Thought(ready), kept=False, forced=forced))
        replaced = self._oldest(read) if kind == "draft" else read.stored
        shown = _shown(replaced, self._services.agent(scope))
        if texts is not None and not texts.keys() >= {*_texts(_catalogued(read).without_entries(), read, shown)} - {
            _NOTHING
        }:
            self._run(due.mark(self._services.keys.due_reflect, [scope]))  # more came since hooks saw it
            return Settled(Outcome.SUPERSEDED)
        came = Awaiting(read, self._think(read, replaced, texts), kind == "draft", forced)
        return came if self._hooks.any(scope, "after_reflect") else self._settle(came)

    def _ready(self, read: ReflectionInput, kind: policy.ReflectKind, *, forced: bool) -> Draft | None:
        """The draft that is settled without a model being asked."""
        return read.draft if kind == "reflect" and (read.review.waits or not forced) else None

    def _settle(self, came: Awaiting) -> Settled:
        if came.kept:
            return self._noted(came.read, came.forced, Settled(self._committer.keep(came.read, came.thought)))
        return self._noted(came.read, came.forced, Settled(*self._committer.settle(came.read, came.thought)))

    def _noted(self, read: ReflectionInput, forced: str, came: Settled) -> Settled:
        """The same, with what was forced said to be done."""
        if forced and came.outcome is not Outcome.SUPERSEDED:
            self._note(read.state, forced=[("force-reflect", forced, "")])
        return came

    def _kind(self, read: ReflectionInput, *, forced: bool) -> policy.ReflectKind:
        limits, pressure = self._services.in_force(read.state.scope).limits, pressure_of(read.state)
        aside = self._sets_aside(read)
        if (review := read.review).id and not aside:
            asks = self._committer.asks(read)
            kind = policy.reviewed(pressure, limits, review.expires_at, read.state.now, asks=asks, forced=forced)
        else:
            kind = policy.reflection(pressure, limits, drafted=read.draft is not None, forced=forced)
        if aside:
            return "rest" if kind == "draft" else kind
        thinks = kind not in {"rest", "drain"} and not review.waits
        return "rest" if thinks and self._given_up(read) else kind

    def _sets_aside(self, read: ReflectionInput) -> bool:
        """Whether the move is to set aside: what waits for its review was thought before, and counts first."""
        return self._services.agent(read.state.scope).sets_aside and not read.review.waits

    def _set_aside(self, read: ReflectionInput, *, everything: bool) -> Outcome:
        agent = self._services.agent(read.state.scope)
        made = set_aside(read, agent, self._services.count, everything=everything)
        return self._committer.settle(read, Thought(made))[0] if made else Outcome.REST

    def _oldest(self, read: ReflectionInput) -> Sequence[Stored]:
        """What a draft covers."""
        about = self._services.in_force(read.state.scope).limits.reflect_from
        return read.stored[: policy.oldest_prefix([stored.observation.tokens for stored in read.stored], about)]

    def _given_up(self, read: ReflectionInput) -> bool:
        """Whether this very memory was tried in vain too often; it is tried again when it changed, or in an hour."""
        scope, record = read.state.scope, read.state.record
        tries = self._run(reflect.failures(self._services.keys, scope, f"{record.generation}:{record.seq:.17g}"))
        return tries >= self._services.agent(scope).observer.max_attempts

    def _drain(self, read: ReflectionInput) -> Outcome:
        """Have what is raw by now observed and activated first, so that each thread's current task is known."""
        state, keys = read.state, self._services.keys
        if not state.record.drain:
            limits, threads = self._services.in_force(state.scope).limits, tuple(sorted(state.unsealed))
            most = policy.seal_room(pressure_of(state))
            move = Move("seal", threads=threads, keep=limits.min_recent_messages, most=most)
            sealed = self._worker.seal(state, move) if threads and most else SealOutcome()
            if sealed.outcome is Outcome.SUPERSEDED:
                return sealed.outcome
            known = [*(chunk.id for chunk in state.chunks), *sealed.chunks]
            state = self._run(scope_state.look(keys, state.scope, known))
            self._note(state, drain=state.record.seq)
        self._run(due.mark(keys.due_observe, [state.scope]))
        return Outcome.SEALED

    def _think(self, read: ReflectionInput, replaced: Sequence[Stored], hooked: Mapping[str, str] | None) -> Thought:
        """Condense, and on a failure write down what it means: too often in vain is given up, a 429 is waited for.

        What its reviewer said to the one before goes with it.
        """
        scope, record = read.state.scope, read.state.record
        try:
            return self._condense(read, replaced, hooked)
        except ModelError as error:
            if not error.retryable:
                self._run(reflect.failed(self._services.keys, scope, f"{record.generation}:{record.seq:.17g}"))
            else:
                at = self._run(due.server_ms()) + patience_ms(error)
                self._run(due.postpone(self._services.keys.due_reflect, scope, at))
            raise

    def _condense(self, read: ReflectionInput, replaced: Sequence[Stored], hooked: Mapping[str, str] | None) -> Thought:
        scope, agent = read.state.scope, self._services.agent(read.state.scope)
        before = _catalogued(read)
        texts = _texts(before.without_entries(), read, _shown(replaced, agent))
        texts = texts if hooked is None else [*filter(None, (hooked.get(text, text) for text in texts))] or [_NOTHING]
        texts = self._services.requests.notes(scope.resource, texts)  # some may stay word for word
        size = sum(map(self._services.count, texts))
        pins = read.needed(replaced)
        judge = judge_of(texts, agent.trust.said())
        keep = partial(with_pins, pins=pins, pooled=scope.thread is None)
        stays = self._services.count(keep("")) if pins else 0  # of which nothing can be condensed
        most = self._services.in_force(scope).limits.observation_threshold // 2
        target = stays + max(_LEAST_TARGET, min(int((size - stays) * USUAL), most - stays))
        start = 0 if "force-reflect" in read.state.forced else self._start_level(agent)
        sent_back = read.draft if read.review.sent_back else None
        # a reviewer may have had something left out: what is missing then is for a reviewer to judge
        task = Task(texts, size, target, start, 1.0 if sent_back else agent.reflection.max_loss)
        kept = extracting.of_memory(read, replaced)
        shown = self._services.requests.value(scope.resource, kept)
        began = self._services.events.reflecting(scope, read.state.record.generation + 1, len(replaced), size)
        slugs = [each.slug for each in agent.extractors_by("reflector")]

        def read_of(request: Request, reply: Reply) -> Reflected:
            """An answer in which lines that were quoted in the notes are quoted again."""
            return requoted(AnswerReader(self._services.events, scope, request).reflected(reply, slugs), judge)

        def ask(request: Request) -> tuple[Reply, Reflected]:
            asked = partial(read_of, request)
            return self._services.models.ask(scope.resource, agent.reflector_models, request, asked)

        def rules(request: Request) -> tuple[Reply, Reflected]:
            reply = self._services.registry.extractive.complete(request)
            return reply, read_of(request, reply)

        form = partial(_request, agent, [pin.text for pin in pins], sent_back, shown)
        refused = partial(self._refused, scope)
        found = condense(task, ReflectionMeans(form, ask, rules, self._services.count, keep, refused))
        extracted = extracting.reflected(agent, found.parts or [found.best.said], kept, replaced, judge)
        draft = _drafted(read, replaced, size, found, extracted)
        return Thought(_with_catalogue(draft, before, self._services.count) if before.entries else draft, began)

    def _refused(self, scope: Scope, answer: UsableAnswer) -> None:
        self._services.events.answer_unusable(scope, "reflect", answer.model, "loss", loss=answer.loss)

    def _start_level(self, agent: MemorySettings) -> int:
        name = self._services.registry.model(agent.reflector_models).name
        return (self._services.settings.models.get(name) or ModelSettings()).start_level

    def _note(self, state: ScopeState, drain: float | None = None, forced: Sequence[tuple[str, str, str]] = ()) -> None:
        wake = policy.wake(pressure_of(state), self._services.in_force(state.scope).limits)
        what = Decided(state.record.limits, scope_state.wake_field(state.scope), wake, drain, forced)
        self._run(note.note(self._services.keys, state.scope, state.record.epoch, what))


def _drafted(
    read: ReflectionInput, replaced: Sequence[Stored], size: int, found: Condensed, extracted: Extracted
) -> Draft:
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
        extracted=extracted,
    )
    return Draft(generation, tuple(stored.seq for stored in replaced))


def _dropped(read: ReflectionInput, replaced: Sequence[Stored], text: str) -> tuple[str, ...]:
    """The observations of which nothing is left in a text."""
    before = [read.generation.text] if read.generation else []
    gone = let_go([stored.observation.text for stored in replaced], text, before)
    return tuple(stored.observation.id for stored, dropped in zip(replaced, gone, strict=True) if dropped)


def _catalogued(read: ReflectionInput) -> Catalogued:
    """The generation in force, and apart from it what names groups: nobody can condense where something stands."""
    return Catalogued.of(read.generation.text if read.generation else "", pooled=read.state.scope.thread is None)


def _with_catalogue(draft: Draft, before: Catalogued, count: Callable[[str], int]) -> Draft:
    made = draft.generation
    text = f"{made.text}\n{written(before.entries)}"
    return replace(draft, generation=replace(made, text=text, tokens=count(text), groups=before.groups))


def _shown(replaced: Sequence[Stored], agent: MemorySettings) -> Sequence[Stored]:
    """What of the observations a Reflector is shown: where its agent says so, none in which nobody is trusted."""
    every = agent.trust.reflect == "all"
    return [stored for stored in replaced if every or not stored.observation.untrusted]


def _texts(before: str, read: ReflectionInput, replaced: Sequence[Stored]) -> list[str]:
    """What is condensed, oldest first: what the generation in force says, then the observations with their threads."""
    texts = [before] if before else []
    texts += [
        one.text if read.state.scope.thread is not None else thread_section(one.thread_id, one.text)
        for one in (stored.observation for stored in replaced)
        if one.text
    ]
    return texts or [_NOTHING]


def _request(
    agent: MemorySettings,
    pinned: Sequence[str],
    sent_back: Draft | None,
    kept: Mapping[str, Any],
    task: Task,
    level: int,
    dropped: Sequence[str],
) -> Request:
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
        pinned=[line for line in pinned if not task.part or any(line in text for text in task.texts)],
        sent_back=(sent_back.generation.text, sent_back.comment) if sent_back and not task.part else None,
        extractors=agent.extractors_by("reflector"),
        kept={"": kept},
    )

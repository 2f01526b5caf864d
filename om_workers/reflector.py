"""The Reflector: condenses observations into the next generation, ahead of need where it can."""

from __future__ import annotations

import time
from functools import partial
from typing import TYPE_CHECKING, NamedTuple

import msgspec

from om_api import policy
from om_api.errors import ModelError
from om_api.learned import learned
from om_api.policy import Move
from om_api.settings import ModelSettings
from om_api.store import commits, due, looking, reading
from om_api.store.commits import Note
from om_api.values import Generation, Outcome, Scope
from om_workers.asking import patience_ms
from om_workers.condensing import USUAL, Condensing, Task, usable
from om_workers.mover import pressure_of
from om_workers.prompts.render import reflector_request
from om_workers.stopping import StoppedError

if TYPE_CHECKING:
    from collections.abc import Sequence

    from om_api.settings import MemorySettings
    from om_api.store.looking import Look
    from om_api.values import Stored
    from om_workers.condensing import Condensed
    from om_workers.llm.base import Reply, Request
    from om_workers.mover import Mover
    from om_workers.prompts.parse import Reflected
    from om_workers.workshop import Workshop

_LEAST_TARGET = 100
_NOTHING = "* Nothing worth noting so far."


class Reflector:
    """One scope's way from observations to the next generation."""

    def __init__(self, workshop: Workshop, mover: Mover) -> None:
        self._shop = workshop
        self._run = workshop.run
        self._mover = mover

    def reflect(self, name: str) -> Outcome:
        """Make the one move a scope's observations are due; it is held while the model thinks.

        Raises StoppedError when this process stops meanwhile: the scope is due now then.
        """
        try:
            return self._reflect(Scope.parse(name))
        except StoppedError:  # only now that its lock is free: who finds it would wait for its end
            self._run(due.mark(self._shop.keys.due_reflect, [name]))
            raise

    def _reflect(self, scope: Scope) -> Outcome:
        index = self._shop.keys.due_reflect
        locks, lock = self._shop.heartbeat, self._shop.lock_name(scope, "reflect")
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
        limits = self._shop.in_force(scope).limits
        forced = read.look.forced.get("force-reflect", "")
        drafted = _draft(read)
        kind = policy.reflection(pressure_of(read.look), limits, drafted=drafted is not None, forced=bool(forced))
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
            self._answer(read.look, forced)
        return outcome

    def _given_up(self, read: Reading) -> bool:
        """Whether this very memory was tried in vain too often; it is tried again when it changed, or in an hour."""
        scope, record = read.look.scope, read.look.record
        tries = self._run(commits.failures(self._shop.keys, scope, f"{record.generation}:{record.seq:.17g}"))
        return tries >= self._shop.agent(scope).observer.max_attempts

    def _read(self, scope: Scope) -> Reading:
        keys = self._shop.keys
        look = self._run(looking.look(keys, scope))
        generations = self._run(reading.generations(keys, scope))
        return Reading(look, self._run(reading.observations(keys, scope)), generations[-1] if generations else None)

    def _drain(self, read: Reading) -> Outcome:
        """Have what is raw by now observed and activated first, so that each thread's current task is known."""
        look, keys = read.look, self._shop.keys
        now = self._shop.in_force(look.scope)
        if not look.record.drain:
            threads = tuple(sorted(look.unsealed))
            move = Move("seal", threads=threads, keep=now.limits.min_recent_messages)
            outcome = self._mover.seal(look, move) if threads else Outcome.REST
            if outcome is Outcome.SUPERSEDED:
                return outcome
            look = self._run(looking.look(keys, look.scope))
            wake = policy.wake(pressure_of(look), now.limits)
            what = Note(look.record.limits, looking.wake_field(look.scope), wake, drain=look.record.seq)
            self._run(commits.note(keys, look.scope, look.record.epoch, what))
        self._run(due.mark(keys.due_observe, [look.scope]))
        return Outcome.SEALED

    def _think(self, read: Reading, replaced: Sequence[Stored]) -> tuple[Draft, float]:
        """Condense, and on a failure write down what it means: too often in vain is given up, a 429 is waited for.

        Beside the draft it returns the moment in which the model was asked.
        """
        scope, record = read.look.scope, read.look.record
        try:
            return self._condense(read, replaced)
        except ModelError as error:
            if not error.retryable:
                self._run(commits.failed(self._shop.keys, scope, f"{record.generation}:{record.seq:.17g}"))
            else:
                at = self._run(due.server_ms()) + patience_ms(error)
                self._run(due.postpone(self._shop.keys.due_reflect, scope, at))
            raise

    def _condense(self, read: Reading, replaced: Sequence[Stored]) -> tuple[Draft, float]:
        """Condense the generation in force and these observations."""
        scope, agent = read.look.scope, self._shop.agent(read.look.scope)
        texts = _texts(read, replaced)
        size = sum(map(self._shop.count, texts))
        target = max(
            _LEAST_TARGET, min(int(size * USUAL), self._shop.in_force(scope).limits.observation_threshold // 2)
        )
        start = 0 if "force-reflect" in read.look.forced else self._start_level(agent)
        task = Task(texts, size, target, start, agent.reflection.max_loss)
        began = self._shop.telling.reflecting(scope, read.look.record.generation + 1, len(replaced), size)
        found = Condensing(task, partial(_request, agent, task), partial(self._ask, scope), self._shop.count).condense()
        return _drafted(read, replaced, size, found), began

    def _start_level(self, agent: MemorySettings) -> int:
        """How hard the model that will answer is pressed at first."""
        name = self._shop.registry.model(agent.reflector_models).name
        return (self._shop.settings.models.get(name) or ModelSettings()).start_level

    def _ask(self, scope: Scope, request: Request) -> tuple[Reply, Reflected]:
        return self._shop.asking.ask(scope.resource, self._shop.agent(scope).reflector_models, request, usable)

    def _keep_draft(self, read: Reading, draft: Draft, began: float) -> Outcome:
        record, scope = read.look.record, read.look.scope
        ttl = self._shop.in_force(scope).retention_s
        outcome = self._run(
            commits.draft(self._shop.keys, scope, record.epoch, record.generation, msgspec.json.encode(draft), ttl)
        )
        if outcome is Outcome.BUFFERED:
            self._shop.telling.drafted(scope, draft.generation, began)
        return outcome

    def _commit(self, read: Reading, draft: Draft, began: float | None) -> Outcome:
        scope, agent = read.look.scope, self._shop.agent(read.look.scope)
        replaced = [stored for stored in read.stored if stored.seq in draft.seqs]
        ttl = self._shop.in_force(scope).retention_s
        outcome = self._run(
            commits.reflect(
                self._shop.keys, scope, read.look.record.epoch, draft.generation, replaced, agent.max_reflections, ttl
            )
        )
        if outcome is Outcome.REFLECTED:
            self._shop.telling.reflected(scope, draft.generation, began)
        return outcome

    def _answer(self, look: Look, request: str) -> None:
        wake = policy.wake(pressure_of(look), self._shop.in_force(look.scope).limits)
        what = Note(look.record.limits, looking.wake_field(look.scope), wake, forced=[("force-reflect", request, "")])
        self._run(commits.note(self._shop.keys, look.scope, look.record.epoch, what))


class Reading(NamedTuple):
    """What was read before a reflection is thought about."""

    look: Look
    stored: list[Stored]
    generation: Generation | None


@learned
class Draft(msgspec.Struct, frozen=True):
    """A reflection that was thought of: the generation it makes, and the seqs of the observations it replaces."""

    generation: Generation
    seqs: tuple[float, ...]


def _draft(read: Reading) -> Draft | None:
    if not read.look.draft:
        return None
    draft = msgspec.json.decode(read.look.draft, type=Draft)
    known = {stored.seq for stored in read.stored}
    fits = draft.generation.n == read.look.record.generation + 1 and known.issuperset(draft.seqs)
    return draft if fits else None


def _drafted(read: Reading, replaced: Sequence[Stored], size: int, found: Condensed) -> Draft:
    best = found.best
    generation = Generation(
        n=read.look.record.generation + 1,
        text=best.said.text,
        created_at=int(time.time() * 1000),
        tokens=best.tokens,
        input_tokens=size,
        observation_ids=tuple(stored.observation.id for stored in replaced),
        patterns=best.said.patterns,
        insights=best.said.insights,
        level=best.level,
        loss=best.loss,
        candidates=found.candidates,
        model=best.model,
        cost=found.cost,
    )
    return Draft(generation, tuple(stored.seq for stored in replaced))


def _texts(read: Reading, replaced: Sequence[Stored]) -> list[str]:
    """What is condensed, oldest first: the generation in force, then the observations with their threads."""
    texts = [read.generation.text] if read.generation and read.generation.text else []
    texts += [_attributed(stored, read.look.scope) for stored in replaced if stored.observation.text]
    return texts or [_NOTHING]


def _request(agent: MemorySettings, task: Task, level: int, dropped: Sequence[str]) -> Request:
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
    )


def _attributed(stored: Stored, scope: Scope) -> str:
    if scope.thread is not None:
        return stored.observation.text
    return f'<thread id="{stored.observation.thread_id}">\n{stored.observation.text}\n</thread>'

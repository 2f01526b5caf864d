"""The Mover: makes the moves a scope is due, seals and activates, and passes sealed chunks on. It decides when, never whether."""

from __future__ import annotations

import math
import time
from typing import TYPE_CHECKING

from om_api import cutting, in_force, policy
from om_api.cutting import Turn
from om_api.policy import Pressure
from om_api.store import clearing, commits, doubt, due, looking, reading, writing
from om_api.store.commits import Note
from om_api.values import Outcome, Scope, new_id
from om_api.weights import count_message
from om_workers.sharing import batches
from om_workers.telling import Cut

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from om_api.policy import Move
    from om_api.store.due import Claim
    from om_api.store.looking import Look
    from om_api.values import Message
    from om_workers.workshop import Workshop

_MOVES = 12  # in one look; the next look goes on from there


class Mover:
    """One scope's next moves, decided by policy and made by scripts. No model is asked here.

    Chunks that are to be observed in one call, the first such, go into `mine`, if that is given: whoever gave it observes them
    himself. For the others, and for all where it is later than `until` (monotonic s), the scope is due again at once, so that
    another task finds them: it stands in the queue once.
    """

    def __init__(self, workshop: Workshop, mine: list[str] | None = None, until: float = math.inf) -> None:
        self._shop = workshop
        self._run = workshop.run
        self._mine = mine
        self._until = until

    def observe(self, name: str) -> Outcome:
        """Make every move a scope is due, hand its sealed chunks out, and say done if nothing is left.

        Until then, or while chunks are unready, the due index keeps the scope: whoever comes next goes on.
        """
        scope = self._in_force(Scope.parse(name))
        if scope is None:
            return Outcome.REST
        index = self._shop.keys.due_observe
        if self._shop.agent(scope).read_only:
            if claim := self._run(due.take(index, scope)):
                self._run(due.done(index, claim))
            return Outcome.REST
        lock = self._shop.lock_name(scope, "observe")
        with self._shop.heartbeat.lock(lock) as mine:
            if not mine:
                self._run(due.when_free(index, scope, lock))
                return Outcome.BUSY
            return self._look_and_move(scope, self._run(due.take(index, scope)))

    def _in_force(self, asked: Scope) -> Scope | None:
        # A client may believe in another scope than the one in force: pass its mark on to who is meant.
        keys = self._shop.keys
        meant = self._run(reading.stored_scope(keys, asked.resource)) or self._shop.agent(asked).scope
        if (meant == "thread") == (asked.thread is not None):
            return asked
        claim = self._run(due.take(keys.due_observe, asked))
        threads = self._run(clearing.threads_of(keys, asked.resource)) if meant == "thread" else [None]
        scopes = [Scope(asked.resource, thread) for thread in threads]
        self._run(commits.hand_on(keys, asked, self._run(commits.requests(keys, asked)), scopes))
        self._run(due.mark(keys.due_observe, scopes))
        if claim:
            self._run(due.done(keys.due_observe, claim))
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
            asked = set(look.forced) - handled if move.kind == "seal" and move.threads else set[str]()
            handled |= asked
            if did is Outcome.REST and not asked:
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
        look, heads = self._run(looking.meet(keys, scope))
        # one dated ahead was heard of when it was first seen, not anew at every look
        last = {
            thread: head.last if head.last <= look.now else look.thread_times.get(thread, look.now)
            for thread, head in heads.items()
            if head.last
        }
        if any(at > look.thread_times.get(thread, 0) for thread, at in last.items()):
            self._run(looking.heard(keys, scope.resource, last))
        strays = [thread for thread, head in heads.items() if head.members != head.counted]
        for thread in strays:
            adopted = self._run(writing.adopt(keys, shop.clock, scope, thread, shop.count))
            shop.telling.adopted(scope.resource, thread, adopted)
        if strays:
            return self._run(looking.look(keys, scope))
        return look._replace(thread_times={**look.thread_times, **last})

    def _note(self, look: Look, pressure: Pressure, becomes: Sequence[tuple[str, str, str]]) -> None:
        now = self._shop.in_force(look.scope)
        wake, limits = policy.wake(pressure, now.limits), in_force.write(now)
        if becomes or wake != look.wake or limits != look.record.limits:
            what = Note(limits, looking.wake_field(look.scope), wake, forced=becomes)
            self._run(commits.note(self._shop.keys, look.scope, look.record.epoch, what))

    def seal(self, look: Look, move: Move) -> Outcome:
        """Cut what a move names into chunks; `rest` when nothing may be cut, `superseded` when it changed under us."""
        keys, limits = self._shop.keys, self._shop.in_force(look.scope).limits
        raw = self._run(looking.raw_messages(keys, look.scope.resource, sorted(look.unsealed)))
        threads = {
            thread: [turn_of(message, self._shop.count) for _, message in pairs] for thread, pairs in raw.items()
        }
        plan = cutting.plan(threads, move, limits, look.now)
        outcome, epoch, cut = Outcome.REST, look.record.epoch, list[Cut]()
        for thread, start, stop in plan:
            members = [member for member, _ in raw[thread][start:stop]]
            tokens = sum(turn.tokens for turn in threads[thread][start:stop])
            cut.append(Cut(thread, new_id(), len(members), tokens))
            outcome = self._run(commits.seal(keys, look.scope, epoch, thread, members, tokens, cut[-1].chunk))
            if outcome is Outcome.SUPERSEDED:
                cut.pop()
                break
            epoch = epoch or self._run(looking.look(keys, look.scope)).record.epoch
        self._shop.telling.sealed(look.scope, cut)
        return outcome

    def _activate(self, look: Look, move: Move) -> Outcome:
        keys, now = self._shop.keys, self._shop.in_force(look.scope)
        epoch = look.record.epoch
        outcome = self._run(commits.activate(keys, look.scope, epoch, look.chunks, move.chunks, now.retention_s))
        if outcome is Outcome.ACTIVATED:
            self._shop.telling.activated(look.scope, look.chunks, move.chunks)
        record = self._run(looking.look(keys, look.scope)).record
        if policy.is_full(record.observation_tokens, record.observation_count, now.limits) or record.drain:
            self._run(due.mark(keys.due_reflect, [look.scope]))
        return outcome

    def _pass_on(
        self, look: Look, pressure: Pressure, claim: Claim | None, outcome: Outcome, *, again: bool
    ) -> Outcome:
        keys, limits = self._shop.keys, self._shop.in_force(look.scope).limits
        if look.record.epoch or look.unsealed:
            self._run(due.looked(keys, look.scope.resource, look.now))
        waiting = limits.enabled and not limits.read_only and not look.paused
        if waiting and any(not chunk.ready for chunk in look.chunks):
            self._hand_out(look)
        elif again:
            self._run(due.mark(keys.due_observe, [look.scope]))
        elif claim:
            self._run(due.done(keys.due_observe, claim, policy.deadline(pressure, limits)))
        return outcome

    def _hand_out(self, look: Look) -> None:
        unready = [chunk for chunk in look.chunks if not chunk.ready]
        locks = [doubt.LOCK, *(chunk_lock(chunk.id) for chunk in unready)]
        waits, *busy = held = self._run(looking.locked(self._shop.keys, look.scope.resource, locks))
        if any(held):  # should its holder be dead, another lease is not waited for
            ends = look.now + (waits or min(filter(None, busy))) + 1
            self._run(due.sooner(self._shop.keys.due_observe, look.scope, ends))
        if waits:
            return
        room = self._shop.agent(look.scope).observer.max_parallel_chunks - sum(map(bool, busy))
        first = {chunk.thread: (chunk, locked) for chunk, locked in reversed([*zip(unready, busy, strict=True)])}
        free = sorted((chunk for chunk, locked in first.values() if not locked), key=lambda chunk: chunk.seq)
        groups = batches(free, self._most_together(look.scope))[: max(0, room)]
        if self._mine is not None and groups and time.monotonic() < self._until:
            self._mine += [chunk.id for chunk in groups.pop(0)]
        if groups:
            since = min(chunk.sealed_at for group in groups for chunk in group)
            self._run(due.mark(self._shop.keys.due_observe, [look.scope], since=since))

    def _most_together(self, scope: Scope) -> int:
        observer = self._shop.agent(scope).observer
        return observer.max_tokens_per_batch if observer.max_attempts > 1 else 0


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


def turn_of(message: Message, count: Callable[[str], int]) -> Turn:
    """What cutting needs to know of a message."""
    calls, answers = message.call_ids("tool-call"), message.call_ids("tool-result")
    return Turn(count_message(message, count), message.at, frozenset(calls), frozenset(answers))


def chunk_lock(chunk: str) -> str:
    """The lock of a chunk while it is observed."""
    return f"chunk:{chunk}"

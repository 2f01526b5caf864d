"""What the client can be asked, as steps: the one logic behind the blocking and the asyncio face."""

from __future__ import annotations

import time
from contextlib import suppress
from copy import copy
from typing import TYPE_CHECKING, NamedTuple

import msgspec

from om_api import accounts, context, events, in_force
from om_api.errors import InvalidInputError, NotPermittedError, StoreError
from om_api.events import Told, Wanted
from om_api.lru import LRU, QUARTER
from om_api.policy import Pressure, decide, is_urgent, threshold
from om_api.recent import Recent
from om_api.served import Served
from om_api.store import (
    clearing,
    commits,
    decoding,
    due,
    looking,
    migrating,
    quarantine,
    reading,
    restoring,
    spending,
    writing,
)
from om_api.store import events as stream
from om_api.store.asking import Names
from om_api.store.exporting import Outgoing
from om_api.store.importing import Incoming
from om_api.store.keys import Keys
from om_api.store.spoilt import of_each
from om_api.store.steps import Batch, Steps, Wait
from om_api.values import (
    Message,
    Outcome,
    Record,
    Scope,
    Snapshot,
    ThreadState,
    check_id,
    encode_message,
    is_id,
    made_at,
    new_id,
    to_ms,
)
from om_api.weights import count_message

if TYPE_CHECKING:
    from collections import Counter
    from collections.abc import Callable, Iterable, Mapping, Sequence

    from om_api.context import Context
    from om_api.costs import Costs
    from om_api.events import Event
    from om_api.in_force import InForce
    from om_api.policy import Limits
    from om_api.recent import Reader
    from om_api.settings import Settings
    from om_api.store.clearing import Cleared
    from om_api.store.looking import Look
    from om_api.store.quarantine import Rejected
    from om_api.values import Generation, Observation, Stored

_ACTIVATIONS = 4  # in one read; each of them empties what was due, so a second is rare
REMEMBERED = 4_096  # scopes, resources and threads, of each table
_TOLD_AT_ONCE = 200  # resources whose figures go with one batch
_URGENT_EVERY_S = 5.0
_POLL_S = 0.1
_FOLLOWED = 100  # events taken at once by who follows
_FOLLOW_S = 1.0


class Receipt(NamedTuple):
    """What became of messages: the ids they are kept under, how many were new, and the ids accepted before."""

    ids: tuple[str, ...]
    added: int
    duplicates: tuple[str, ...] = ()


class Era(NamedTuple):
    """One generation and the observations it replaced (empty once they have expired)."""

    generation: Generation
    replaced: tuple[Observation, ...]


class Overview(NamedTuple):
    """How full the memories are that workers have met, by name; of `broken` ones keys hold what is not ours."""

    stats: list[Stats]
    broken: list[str]


class Stats(msgspec.Struct, frozen=True, kw_only=True):
    """How full a memory is. Tokens by tier; `compression` = tokens observed / tokens they take now, None before that.

    `scope` is in force; `configured_scope` differs from it until `om migrate-scope` moves the memory. `cost_today` is what
    models cost on this UTC day, in dollars, without calls of unknown price; `budget_reached` names the settings of the
    budgets that are used up, "" while none is. `lag` is for how many seconds the oldest work has been waiting, or under way.
    `rejected_dropped` entries left the quarantine because it was full.
    """

    resource: str
    scope: str
    configured_scope: str
    threads: int
    message_tokens: int
    chunk_tokens: int
    observation_tokens: int
    reflection_tokens: int
    chunks: int
    ready_chunks: int
    observations: int
    generation: int
    observed_tokens: int
    observed_messages: int
    compression: float | None
    message_threshold: int
    observation_threshold: int
    paused: bool
    observing: bool
    reflecting: bool
    due: bool
    rejected: int
    rejected_dropped: int = 0
    lag: float = 0.0
    cost_today: float = 0.0
    budget_reached: str = ""
    problems: tuple[str, ...] = ()


class Core:
    """Asks the store, decides by the pure rooms, and never waits for a model. Every method is steps."""

    def __init__(self, settings: Settings, count: Callable[[str], int], *, fails_open: bool = False) -> None:
        self.settings = settings
        self.keys = Keys(settings.prefix)
        self.clock = writing.Clock()
        self.count = count
        self.cluster = False
        self.patience_s = 1.0  # one wait for the store, which keeps a connection busy
        self.served: Served | None = Served()  # None: contexts are not tallied
        self._fails_open = fails_open  # the last snapshots are kept, for when the store is away
        self._recent = Recent(count, share=1.0 if fails_open else QUARTER)
        self._urgent: LRU[str, float] = LRU(REMEMBERED)
        self._mute = False  # True once the ACL refused what is told of this client
        self._only_read: LRU[str, bool] = LRU(REMEMBERED)  # resources the ACL refused to have written
        self._last_ms: LRU[tuple[str, str], int] = LRU(REMEMBERED)

    # -- writing ------------------------------------------------------------------------------------------------------

    def prepare(self, message: Message) -> Message:
        """A message as it will be kept: with id, tokens and the ms it is ordered by; raises InvalidInputError."""
        _check_place(message)
        encode_message(message)  # what cannot be written is refused before the first of a batch is sent
        ready = copy(message)
        ready.check()
        ready.at = to_ms(message.timestamp) or self._next_ms(message)
        ready.id = message.id or new_id(ready.at)
        ready.tokens = count_message(message, self.count)
        if ready.timestamp is None:
            ready.timestamp = ready.at
        return ready

    def prepare_all(self, messages: Iterable[Message]) -> list[Message]:
        """Messages as they will be kept; raises InvalidInputError, which says by position and id which one cannot be."""
        ready: list[Message] = []
        written = set[str]()  # resources that may be
        try:
            for message in messages:
                ready.append(self._acceptable(message, written))  # noqa: PERF401  how far we came is told
        except InvalidInputError as error:
            raise InvalidInputError(f"messages[{len(ready)}]: {error}; nothing was kept") from error
        return ready

    def _acceptable(self, message: Message, written: set[str]) -> Message:
        if not isinstance(message, Message):
            raise InvalidInputError(f"it must be a Message, not {type(message).__name__}")
        try:
            ready = self.prepare(message)
        except RecursionError:
            raise InvalidInputError(f"message {message.id or '(without id)'}: it nests too deeply") from None
        if ready.resource_id not in written and self.settings.for_agent(ready.resource_id).read_only:
            raise InvalidInputError(f"{ready.resource_id} is read_only: its contexts can be read, no message is kept")
        written.add(ready.resource_id)
        return ready

    def _next_ms(self, message: Message) -> int:
        # Turns added together come in one millisecond; without this they would be ordered by their ids.
        key = (message.resource_id, message.thread_id)
        at = max(int(time.time() * 1000), self._last_ms.get(key, 0) + 1)
        self._last_ms.put(key, at)
        return at

    def add(self, messages: Iterable[Message]) -> Steps[Receipt]:
        """Add messages of any threads and resources. All are checked before the first is sent: a bad one adds none."""
        ready = self.prepare_all(messages)
        resources: dict[str, list[Message]] = {}
        for message in ready:
            resources.setdefault(message.resource_id, []).append(message)
        added, duplicates = 0, []
        kept = 0
        for resource, own in resources.items():
            for start in range(0, len(own), writing.BATCH):
                batch = own[start : start + writing.BATCH]
                try:
                    pushed = yield from self._push(resource, batch)
                except StoreError as error:
                    raise _partly(error, kept, len(ready)) if kept else error from error
                kept += len(batch)
                added += pushed.added
                duplicates += _named(batch, pushed.duplicates)
        if self.served:
            yield from self._tell(self.served.due(resources))
        return Receipt(tuple(message.id for message in ready), added, tuple(duplicates))

    def _push(self, resource: str, batch: Sequence[Message]) -> Steps[writing.Pushed]:
        thread_scope = self.settings.for_agent(resource).scope == "thread"
        pushed = yield from writing.push(
            self.keys, self.clock, resource, batch, thread_scope=thread_scope, mark=not self.cluster
        )
        if self.cluster and pushed.due:
            with suppress(StoreError):  # the messages are kept; the sweep finds what a mark could not say
                yield from due.mark(self.keys.due_observe, pushed.due)
        return pushed

    def tell_all(self) -> Steps[None]:
        """Send what was tallied of the contexts served and not sent yet; what cannot be sent is figures, not messages."""
        if self.served:
            yield from self._tell(self.served.all())

    def _tell(self, untold: dict[str, Counter[str]]) -> Steps[None]:
        names = list(untold)
        for start in range(0, len(names), _TOLD_AT_ONCE):
            some = {name: untold[name] for name in names[start : start + _TOLD_AT_ONCE]}
            try:
                yield from spending.tell(self.keys, self.clock, some)
                yield from self._count(some)
            except NotPermittedError:  # by an ACL that grants its memory only: such a client keeps no figures
                self.served = None
                return
            except StoreError as error:
                left = names[start if error.stored is False else start + _TOLD_AT_ONCE :]
                if self.served:
                    self.served.give_back({name: untold[name] for name in left})
                return

    def _count(self, served: Mapping[str, Mapping[str, int]]) -> Steps[None]:
        """Count what was served beside what the workers count: best effort, and where this client may not, not at all."""
        named = {name: {f"served|{what}": n for what, n in amounts.items()} for name, amounts in served.items()}
        with suppress(StoreError):
            yield from stream.add(self.keys, named)

    def _publish(self, event: Event) -> Steps[None]:
        """Say what this client did, best effort, until the ACL refuses; how much is kept is for the workers to know."""
        if self._mute:
            return
        try:
            yield from stream.publish(self.keys, [event], None, self.clock.ms())
        except StoreError as error:
            self._mute = isinstance(error, NotPermittedError)

    # -- the context --------------------------------------------------------------------------------------------------

    def context(self, resource: str, thread: str, max_tokens: int | None = None) -> Steps[Context]:
        """What the Actor reads: one round trip when warm, a few more when it activates."""
        check_id(resource, "resource_id")
        check_id(thread, "thread_id")
        reader = self._recent.of(resource, thread)
        for _ in range(_ACTIVATIONS):
            snapshot = yield from self._snapshot(resource, thread, reader)
            now = self._in_force(resource, snapshot.record)
            pressure = pressure_of(snapshot)
            move = decide(pressure, now.limits, snapshot.now)
            if move.kind != "activate" or not snapshot.record.epoch or resource in self._only_read:
                break
            if not (yield from self._activate(snapshot, move.chunks, now)):
                break
        built = reader.rendering.context(snapshot, now.view, snapshot.now, max_tokens)
        self._recent.keep(resource, thread, reader)
        if self.served and _is_known(snapshot) and not self.settings.for_agent(resource).read_only:
            self.clock.seen(snapshot.now)
            self.served.count(snapshot, built.blocks)
        wanted = now.limits.enabled and not now.limits.read_only and not pressure.paused
        if wanted and resource not in self._only_read and (built.omitted or is_urgent(pressure, now.limits)):
            with suppress(StoreError):  # the sweep finds what a mark could not say
                yield from self._mark_urgent(snapshot.scope)
        return built

    def _activate(self, snapshot: Snapshot, chosen: Sequence[str], now: InForce) -> Steps[bool]:
        """Activate on the way; False when the store takes no writes just now: what was read is served as it is."""
        scope, epoch = snapshot.scope, snapshot.record.epoch
        try:
            done = yield from commits.activate(self.keys, scope, epoch, snapshot.chunks, chosen, now.retention_s)
            if done is Outcome.ACTIVATED:
                yield from self._mark_reflect(snapshot, chosen, now.limits)
                yield from self._publish(events.activated(scope, snapshot.chunks, chosen, "client"))
        except StoreError as error:
            if error.stored is not False:
                raise
            if isinstance(error, NotPermittedError):
                self._only_read.put(scope.resource, value=True)
            return False
        return True

    def _snapshot(self, resource: str, thread: str, reader: Reader) -> Steps[Snapshot]:
        configured = reading.as_scope(resource, thread, self.settings.for_agent(resource).scope)
        known = reader.names or Names(configured, {}, ())
        snapshot, reader.names = yield from reading.snapshot(
            self.keys, resource, thread, known, reader.past, configured
        )
        reader.snapshot = snapshot if self._fails_open else None
        return snapshot

    def _in_force(self, resource: str, record: Record) -> InForce:
        return in_force.read(record.limits) or in_force.of(self.settings.for_agent(resource))

    def _mark_reflect(self, snapshot: Snapshot, chosen: Sequence[str], limits: Limits) -> Steps[None]:
        gained = [
            decoding.as_observation(c.observation).tokens for c in snapshot.chunks if c.id in chosen and c.observation
        ]
        tokens = snapshot.record.observation_tokens + sum(gained)
        if tokens >= limits.reflect_from or snapshot.record.observation_count + len(gained) >= limits.max_observations:
            yield from due.mark(self.keys.due_reflect, [snapshot.scope])

    def without_store(self, resource: str, thread: str, unsent: Sequence[Message], max_tokens: int | None) -> Context:
        """A context of what was read last and what could not be sent yet, saying that memory was unavailable."""
        last = self._recent.of(resource, thread).snapshot or Snapshot(
            scope=Scope(resource),
            thread=ThreadState(id=thread),
            record=Record(),
            messages=[],
            chunks=[],
            observations=[],
        )
        known = {message.id for message in last.messages}
        own = [m for m in unsent if (m.resource_id, m.thread_id) == (resource, thread) and m.id not in known]
        snapshot = msgspec.structs.replace(last, messages=[*last.messages, *own])
        view, now = self._in_force(resource, last.record).view, int(time.time() * 1000)
        return context.build(snapshot, view, self.count, now, max_tokens, unavailable=True)

    def _mark_urgent(self, scope: Scope) -> Steps[None]:
        now = time.monotonic()
        if now - self._urgent.get(str(scope), -_URGENT_EVERY_S) >= _URGENT_EVERY_S:
            self._urgent.put(str(scope), now)
            yield from due.mark(self.keys.due_observe, [scope], urgent=True)

    # -- asking the workers -------------------------------------------------------------------------------------------

    def force_observe(self, resource: str, thread: str | None, wait: float | None) -> Steps[Outcome]:
        """Have everything raw observed and activated, whatever the thresholds; `busy` while it is not done yet."""
        asked: list[tuple[Scope, str]] = []
        for scope in (yield from self._some(resource, thread)):
            look = yield from looking.look(self.keys, scope)
            if look.paused:
                raise InvalidInputError(
                    f"{resource} is paused, nothing is observed: resume it first (om resume {resource})"
                )
            if (yield from self._has_raw(look, thread)):
                asked.append((scope, "force" if thread is None or scope.thread is not None else f"force:{thread}"))
        return (yield from self._ask(asked, self.keys.due_observe, wait, Outcome.ACTIVATED))

    def force_reflect(self, resource: str, thread: str | None, wait: float | None) -> Steps[Outcome]:
        """Have a scope's observations condensed now, whatever the thresholds; `busy` while it is not done yet."""
        asked: list[tuple[Scope, str]] = []
        for scope in (yield from self._some(resource, thread)):
            look = yield from looking.look(self.keys, scope)
            if look.record.observation_count:
                asked.append((scope, "force-reflect"))
        return (yield from self._ask(asked, self.keys.due_reflect, wait, Outcome.REFLECTED))

    def _has_raw(self, look: Look, thread: str | None) -> Steps[bool]:
        own = {thread, look.scope.thread} - {None}
        if any(not own or chunk.thread in own for chunk in look.chunks):
            return True
        if any(not own or name in own for name in look.unsealed):
            return True
        heads = yield from looking.heads(self.keys, look.scope.resource, sorted(name for name in own if name))
        return any(head.members for head in heads.values())

    def _ask(self, asked: Sequence[tuple[Scope, str]], index: str, wait: float | None, good: Outcome) -> Steps[Outcome]:
        if not asked:
            return Outcome.REST
        for scope, field in asked:
            yield from commits.force(self.keys, scope, field)
        try:
            yield from due.mark(index, [scope for scope, _ in asked], urgent=True)
            return (yield from self._await(asked, wait, good))
        except StoreError as error:
            text = f"{error} The request stands, and is answered when the store is back: do nothing, or ask again."
            raise StoreError(text, stored=True) from error

    def _await(self, asked: Sequence[tuple[Scope, str]], wait: float | None, good: Outcome) -> Steps[Outcome]:
        waited = 0.0
        while True:
            of = self.keys.of(asked[0][0].resource)
            values = yield Batch([("HGET", of.record(scope), field) for scope, field in asked])
            if not any(values):
                return good
            if wait is None or waited >= wait:
                return Outcome.BUSY
            yield Wait(_POLL_S)
            waited += _POLL_S

    def pause(self, resource: str, *, on: bool) -> Steps[Outcome]:
        """Stop or resume whatever calls a model for a resource."""
        check_id(resource, "resource_id")
        yield from commits.pause(self.keys, resource, on=on)
        if not on:
            with suppress(StoreError):  # it goes on; the sweep finds what a mark could not say
                yield from due.mark(self.keys.due_observe, [resource])
        return Outcome.REST

    # -- what the store holds -----------------------------------------------------------------------------------------

    def _scope(self, resource: str, thread: str | None) -> Steps[Scope]:
        check_id(resource, "resource_id")
        configured = self.settings.for_agent(resource).scope
        scope = yield from reading.scope_in_force(
            self.keys, resource, thread and check_id(thread, "thread_id"), configured
        )
        return scope

    def record(self, resource: str, thread: str | None) -> Steps[Record]:
        """A scope's bookkeeping; in thread scope a thread must be named."""
        scope = yield from self._one(resource, thread)
        return (yield from looking.look(self.keys, scope)).record

    def _one(self, resource: str, thread: str | None) -> Steps[Scope]:
        scope = yield from self._scope(resource, thread)
        if thread is None:
            word = yield from reading.stored_scope(self.keys, resource)
            if (word or self.settings.for_agent(resource).scope) == "thread":
                raise InvalidInputError(
                    f"{resource} keeps one memory a thread: name a thread_id (om.threads lists them)"
                )
        return scope

    def scopes(self, resource: str) -> Steps[list[Scope]]:
        """Every scope of a resource: the resource itself, or its threads in thread scope."""
        check_id(resource, "resource_id")
        word = (yield from reading.stored_scope(self.keys, resource)) or self.settings.for_agent(resource).scope
        if word == "resource":
            return [Scope(resource)]
        return [Scope(resource, thread) for thread in (yield from clearing.threads_of(self.keys, resource))]

    def _some(self, resource: str, thread: str | None) -> Steps[list[Scope]]:
        scopes = yield from self.scopes(resource)
        return scopes if thread is None else [scope for scope in scopes if scope.thread in {None, thread}]

    def observations(self, resource: str, thread: str | None = None) -> Steps[list[Observation]]:
        """Tier 2, oldest first: of every thread, or of one."""
        stored = yield from self._stored(resource, thread)
        return [each.observation for _, each in stored if thread in {None, each.observation.thread_id}]

    def _stored(self, resource: str, thread: str | None) -> Steps[list[tuple[Scope, Stored]]]:
        found: list[tuple[Scope, Stored]] = []
        for scope in (yield from self._some(resource, thread)):
            some = yield from reading.observations(self.keys, scope)
            found += [(scope, each) for each in some]
        return found

    def sources(self, observation: str, resource: str) -> Steps[list[Message]]:
        """The messages behind an observation, oldest first; none once they have expired."""
        check_id(resource, "resource_id")
        thread = yield from reading.source_thread(self.keys, resource, check_id(observation, "observation"))
        return (yield from reading.source_messages(self.keys, resource, observation, thread))

    def generations(self, resource: str, thread: str | None = None) -> Steps[list[Generation]]:
        """Tier 3, oldest first; the last of a scope is in force."""
        found: list[Generation] = []
        for scope in (yield from self._some(resource, thread)):
            found += yield from reading.generations(self.keys, scope)
        return found

    def history(self, resource: str, thread: str | None = None) -> Steps[list[Era]]:
        """The generations with what each of them replaced, oldest first."""
        eras: list[Era] = []
        for scope in (yield from self._some(resource, thread)):
            for generation in (yield from reading.generations(self.keys, scope)):
                replaced = yield from reading.replaced(self.keys, scope, generation.n)
                eras.append(Era(generation, tuple(stored.observation for stored in replaced)))
        return eras

    def replaced(self, resource: str, thread: str | None, generation: int) -> Steps[list[Observation]]:
        """What one generation replaced, oldest first; none once it has expired."""
        found: list[Stored] = []
        for scope in (yield from self._some(resource, thread)):
            found += yield from reading.replaced(self.keys, scope, generation)
        return [stored.observation for stored in found]

    def threads(self, resource: str, after: str = "", limit: int | None = None) -> Steps[list[ThreadState]]:
        """Threads by name, up to `limit` behind `after`, with what is unsealed and what the Observer last said of the task."""
        check_id(resource, "resource_id")
        names = yield from clearing.threads_of(self.keys, resource)
        some = [name for name in names if name > after][:limit]
        return (yield from reading.threads(self.keys, resource, some))

    def ping(self) -> Steps[int]:
        """The server's time in ms."""
        return (yield from due.server_ms())

    def stats(self, resource: str) -> Steps[Stats]:
        """How full a resource's memory is, summed over its scopes."""
        scopes = yield from self.scopes(resource)
        looks = yield from looking.looks(self.keys, scopes or [Scope(resource)])
        side = yield from looking.side_view(self.keys, resource, looks)
        today = yield from accounts.today(self.settings, self.keys, resource, looks[0].now)
        return self._stats(resource, looks, side, today)

    def overview(self) -> Steps[Overview]:
        """The same of every resource the workers have met; one whose keys hold what is not ours hides no other one."""
        names, found = (yield from self.resources()), dict[str, Stats]()
        for name in names:
            found |= yield from of_each(self._stats_of, [name])
        return Overview([*found.values()], [name for name in names if name not in found])

    def _stats_of(self, names: Sequence[str]) -> Steps[dict[str, Stats]]:
        found: dict[str, Stats] = {}
        for name in names:
            found[name] = yield from self.stats(name)
        return found

    def _stats(self, resource: str, looks: Sequence[Look], side: looking.SideView, today: accounts.Today) -> Stats:
        settings = self.settings.for_agent(resource)
        records = [look.record for look in looks]
        now = self._in_force(resource, records[0])
        observed = sum(record.observed_tokens for record in records)
        kept = sum(record.observation_tokens + record.reflection_tokens for record in records)
        chunks = [chunk for look in looks for chunk in look.chunks]
        return Stats(
            resource=resource,
            scope=side.scope or settings.scope,
            configured_scope=settings.scope,
            threads=len({*looks[0].thread_times, *(name for look in looks for name in look.unsealed)}),
            message_tokens=sum(look.unsealed_tokens for look in looks),
            chunk_tokens=sum(chunk.tokens for chunk in chunks),
            observation_tokens=sum(record.observation_tokens for record in records),
            reflection_tokens=sum(record.reflection_tokens for record in records),
            chunks=len(chunks),
            ready_chunks=sum(chunk.ready for chunk in chunks),
            observations=sum(record.observation_count for record in records),
            generation=max(record.generation for record in records),
            observed_tokens=observed,
            observed_messages=sum(record.observed_messages for record in records),
            compression=round(observed / kept, 2) if kept else None,
            message_threshold=threshold(now.limits, records[0].observation_tokens),
            observation_threshold=now.limits.observation_threshold,
            paused=looks[0].paused,
            observing=side.observing,
            reflecting=side.reflecting,
            due=side.due_since is not None,
            lag=_lag(looks, side.due_since),
            rejected=side.rejected,
            rejected_dropped=side.dropped,
            cost_today=today.cost,
            budget_reached=", ".join(today.reached),
            problems=tuple(f"{problem.file}: {problem.text}" for problem in self.settings.problems),
        )

    def costs(self, resource: str | None, days: int) -> Steps[Costs]:
        """What models cost in the last `days` UTC days, of one resource or of all."""
        name = None if resource is None else check_id(resource, "resource_id")
        return (yield from accounts.costs(self.settings, self.keys, name, days))

    def resources(self) -> Steps[list[str]]:
        """Every resource the workers have met."""
        (names,) = yield Batch([("ZRANGE", self.keys.resources, 0, -1)])
        return sorted(name.decode() for name in names)

    # -- what happened ------------------------------------------------------------------------------------------------

    def events(self, after: str, wanted: Wanted, count: int, wait: float = 0) -> Steps[Told]:
        """Events behind an id, or the newest ones; where there is none, what comes within `wait` seconds."""
        if not 1 <= count <= events.MOST:
            raise InvalidInputError(f"count is {count}: use 1 to {events.MOST}")
        ends, place = time.monotonic() + wait, after and events.check_event_id(after)
        while True:
            if place:
                told = yield from stream.since(self.keys, place, wanted, count)
            else:
                told = yield from stream.newest(self.keys, wanted, count)
            place, left = told.after, ends - time.monotonic()
            if told.events or left <= 0:
                return told
            yield from stream.wait(self.keys, place, min(left, self.patience_s))

    def now(self) -> Steps[Told]:
        """No events, and the id behind which those stand that are still to come."""
        told = yield from stream.newest(self.keys, Wanted(), 1)
        return Told([], told.after)

    def next_events(self, after: str, wanted: Wanted) -> Steps[Told]:
        """The next events behind an id, if any come within a second; none while the store is away."""
        try:
            return (yield from self.events(after, wanted, _FOLLOWED, _FOLLOW_S))
        except StoreError:
            yield Wait(_FOLLOW_S)
            return Told([], after)

    # -- ending -------------------------------------------------------------------------------------------------------

    def clear(self, resource: str, thread: str | None = None) -> Steps[Cleared]:
        """Remove a resource's memory, or one thread of it, in one step."""
        scope = yield from self._scope(resource, thread)
        now_ms = yield from due.server_ms()
        if thread is None:
            did = yield from clearing.clear(self.keys, resource, now_ms)
        else:
            did = yield from clearing.clear_thread(self.keys, scope, thread, now_ms, self.count)
        yield from self._publish(events.cleared(Scope(resource, thread), did.messages, did.observations))
        return did

    def forget(self, observation: str, resource: str) -> Steps[Outcome]:
        """Remove one observation with the messages behind it; what a reflection holds of it already stays."""
        check_id(observation, "observation")
        for scope, stored in (yield from self._stored(resource, None)):
            if stored.observation.id == observation:
                record = (yield from looking.look(self.keys, scope)).record
                return (yield from commits.forget(self.keys, scope, record.epoch, stored))
        raise InvalidInputError(
            f"{resource} has no observation {observation}: a reflection replaced it, or it never was"
        )

    def restore(self, resource: str, generation: int, thread: str | None = None) -> Steps[Outcome]:
        """Make an earlier generation's text the next one; see restoring.restore."""
        settings = self.settings.for_agent(check_id(resource, "resource_id"))
        if settings.read_only:
            raise InvalidInputError(f"{resource} is read_only: nothing of it is written, so nothing is restored")
        if generation < 0:
            raise InvalidInputError(f"{generation} is no generation: use one that om history lists, or 0")
        scope = yield from self._one(resource, thread)
        now_ms = yield from due.server_ms()
        ttl = in_force.of(settings).retention_s
        done = yield from restoring.restore(self.keys, scope, generation, settings.max_reflections, ttl, now_ms)
        if done is Outcome.RESTORED:
            with suppress(StoreError):  # it is restored; the sweep finds what a mark could not say
                yield from due.mark(self.keys.due_reflect, [scope])
        return done

    # -- the quarantine -----------------------------------------------------------------------------------------------

    def quarantines(self) -> Steps[quarantine.Quarantines]:
        """How many entries each resource's quarantine has; those without any are left out."""
        return (yield from quarantine.counts(self.keys))

    def rejected(self, resource: str, newest: int | None = None) -> Steps[list[Rejected]]:
        """A resource's quarantine, oldest first: all of it, or its `newest` entries."""
        return (yield from quarantine.entries(self.keys, check_id(resource, "resource_id"), newest))

    def retry_rejected(self, resource: str, entry: str) -> Steps[Outcome]:
        """Give what an entry holds another chance; see quarantine.retry."""
        settings = self.settings.for_agent(check_id(resource, "resource_id"))
        if settings.read_only:
            raise InvalidInputError(f"{resource} is read_only: nothing of it is written, so nothing is retried")
        return (yield from quarantine.retry(self.keys, resource, entry, settings.scope))

    def drop_rejected(self, resource: str, entry: str) -> Steps[Outcome]:
        """Remove an entry of the quarantine; what covers its message stays."""
        return (yield from quarantine.drop(self.keys, check_id(resource, "resource_id"), entry))

    # -- moving -------------------------------------------------------------------------------------------------------

    def outgoing(self, resource: str) -> Outgoing:
        """A resource on its way into a file."""
        return Outgoing(self.keys, check_id(resource, "resource_id"))

    def incoming(self, resource: str | None) -> Incoming:
        """A memory on its way from a file into a resource; None: the one it was of."""
        return Incoming(self.keys, resource, self._check_writable)

    def _check_writable(self, resource: str) -> None:
        if self.settings.for_agent(resource).read_only:
            raise InvalidInputError(f"{resource} is read_only: nothing of it is written, so nothing is imported")

    def migrate_scope(self, resource: str, to: str) -> Steps[Outcome]:
        """Move a memory to the other scope; `busy` while chunks are still being observed (repeat then)."""
        check_id(resource, "resource_id")
        now = in_force.of(self.settings.for_agent(resource))
        return (yield from migrating.migrate(self.keys, resource, to, self.count, now))


def pressure_of(snapshot: Snapshot) -> Pressure:
    """A snapshot's pressure; what only workers look at (idle times, forced requests) is left out."""
    own = snapshot.scope.thread
    return Pressure(
        chunks=snapshot.chunks,
        unsealed={t: value for t, value in snapshot.unsealed.items() if own in {None, t}},
        observation_tokens=snapshot.record.observation_tokens,
        observation_count=snapshot.record.observation_count,
        drain=snapshot.record.drain,
        paused=snapshot.paused,
    )


def _is_known(snapshot: Snapshot) -> bool:
    """Whether there is a memory at all: whoever may read everybody's may ask for any name, and no figures are kept of those."""
    return bool(snapshot.record.epoch or snapshot.unsealed or snapshot.messages)


def _lag(looks: Sequence[Look], due_since: int | None) -> float:
    """Seconds since the oldest work there is became due: a scope's look, or a chunk that is not observed yet."""
    waiting = [made_at(chunk.id) for look in looks for chunk in look.chunks if not chunk.ready and not look.paused]
    since = [at for at in (due_since, *waiting) if at is not None]
    return round(max(0, looks[0].now - min(since)) / 1000, 1) if since else 0.0


def _check_place(message: Message) -> None:
    """Raise InvalidInputError unless a message says whose it is, and of which thread."""
    if not (is_id(message.thread_id) and is_id(message.resource_id)):
        which = f"of message {message.id or '(without id)'}"
        check_id(message.thread_id, f"thread_id {which}")
        check_id(message.resource_id, f"resource_id {which}")


def _named(batch: Sequence[Message], positions: Sequence[int]) -> list[str]:
    """The ids at some positions of a batch, as `push` lays it out."""
    if not positions:
        return []
    laid_out = [message for own in writing.by_thread(batch).values() for message in own]
    return [laid_out[position].id for position in positions]


def _partly(error: StoreError, kept: int, asked: int) -> StoreError:
    text = f"{error} Of {asked:,} messages the first {kept:,} are kept, in the order of their resources"
    return StoreError(f"{text}: repeat the call with the same ids, which is safe.", stored=None)

"""The Actor's contexts: read in one round trip when warm, with what is due activated on the way."""

import time
from collections.abc import Callable, Sequence
from contextlib import suppress
from functools import partial

import msgspec

from om_api import context
from om_api.client.composing import CANNOT_BE_READ, ComposedAsk, Composer
from om_api.client.hooking import ContextHooks
from om_api.client.recalling import Recalling
from om_api.client.remembered.cache_use import check_model, last_use, turns
from om_api.client.remembered.known_aliases import KnownAliases
from om_api.client.remembered.reader_cache import Reader, ReaderCache
from om_api.client.reporting import Reporter
from om_api.context import Context, View
from om_api.domain import events
from om_api.domain.caching import LRU, QUARTER
from om_api.domain.errors import InvalidInputError, NotPermittedError, StoreError
from om_api.domain.messages import Message
from om_api.domain.policy import Limits, Pressure, decide, is_full, is_urgent
from om_api.domain.snapshot import Snapshot, own_part
from om_api.domain.values import Outcome, Record, Scope, ThreadState, check_id
from om_api.recall.recalled import RecalledHit
from om_api.settings import Settings, recorded_settings
from om_api.settings.logs import library_log
from om_api.settings.recorded_settings import RecordedSettings
from om_api.store.driver.steps import Steps
from om_api.store.memory import decoding, due, note, reading
from om_api.store.memory.activate import activate
from om_api.store.memory.context_query import Names
from om_api.store.memory.keys import Keys
from om_api.store.memory.reading import Beside
from om_api.telemetry import spans

REMEMBERED = 4_096  # scopes, and resources
_NAMES = 5  # changes of what a name stands for, in one read
_ACTIVATIONS = 4  # in one read; each of them empties what was due, so a second is rare
_URGENT_EVERY_S = 5.0
_DEEPER = 4  # times as many raw messages are read where all that were read have room
NOTHING_COMPOSED = ComposedAsk()


class Contexts:
    """Makes contexts. With `fails_open` the last snapshots are kept, for when the store is away."""

    def __init__(
        self,
        settings: Settings,
        keys: Keys,
        count: Callable[[str], int],
        reporter: Reporter,
        recalling: Recalling,
        composer: Composer,
        *,
        fails_open: bool,
        aliases: KnownAliases,
    ) -> None:
        self._settings, self._keys, self._count, self._reporter = settings, keys, count, reporter
        self._recalling, self._composer, self._aliases = recalling, composer, aliases
        self._hooks, self._fails_open = ContextHooks(settings, reporter), fails_open
        self._readers = ReaderCache(count, share=1.0 if fails_open else QUARTER)
        self._urgent: LRU[str, float] = LRU(REMEMBERED)
        self._only_read: LRU[str, bool] = LRU(REMEMBERED)  # resources the ACL refused to have written

    def of(
        self,
        resource: str,
        thread: str,
        max_tokens: int | None = None,
        ask: ComposedAsk = NOTHING_COMPOSED,
        model: str | None = None,
        newest: int = 0,
    ) -> Steps[Context]:
        """What the Actor reads, for its `model`: one round trip when warm, a few more when it activates.

        At least `newest` raw messages of the thread are read, and more if there is room for more.
        """
        _check(resource, thread, max_tokens)
        model = check_model(model) or self._settings.for_agent(resource).actor_model
        reader, snapshot, now = yield from self._read(resource, thread, ask, model, newest)
        thread = snapshot.thread.id
        view = now.view_of(snapshot.record.observation_tokens)
        shown, view = _part_shown(snapshot, view)
        if snapshot.unread and reader.shows_all(shown, view, max_tokens):
            return (yield from self.of(resource, thread, max_tokens, ask, model, _DEEPER * reader.newest))
        hits = yield from self._hits(shown, view)
        build = partial(reader.rendering.context, shown, view, snapshot.now, max_tokens, hits=hits)
        built = build()
        if self._hooks.any(resource) and (added := (yield from self._hooks.added(built, snapshot.messages))):
            built = build(added=added)
        reader.read_at = snapshot.now
        self._readers.keep(resource, thread, reader)
        if _is_known(snapshot) and not self._settings.for_agent(resource).read_only:
            self._reporter.served(snapshot, built.blocks)
        overflows = built.omitted and snapshot.thread.leaves_memory
        if overflows or is_urgent(pressure_of(snapshot), now.limits):
            yield from self._mark_urgent(snapshot, now.limits)
        return built

    def _hits(self, snapshot: Snapshot, view: View) -> Steps[list[RecalledHit]]:
        """What was said before about the newest message; nothing where that cannot be looked up: no context fails of it."""
        if not view.recalled_tokens:
            return []
        try:
            return (yield from self._recalling.for_context(snapshot, view.timezone))
        except Exception as error:  # noqa: BLE001  whatever a ranker, or what somebody wrote, makes of it
            library_log().warning("recall_failed", resource=snapshot.scope.resource, error=str(error)[:300])
            return []

    def _read(
        self, resource: str, name: str, ask: ComposedAsk, model: str | None, newest: int
    ) -> Steps[tuple[Reader, Snapshot, RecordedSettings]]:
        """What is read of the thread that a name stands for; again where it stands for another one than this client knew of."""
        for _ in range(_NAMES):
            thread = self._aliases.thread(resource, name)
            reader = self._readers.of(resource, thread)
            reader.newest = max(reader.newest, newest)
            snapshot, now = yield from self._activated(resource, thread, reader, name, ask, model)
            self._aliases.learn(resource, name, snapshot.stands_for)
            if thread == self._aliases.thread(resource, name):
                return reader, snapshot, now
        raise StoreError(f"{resource} has {name} stand for ever other threads: repeat.", stored=False)

    def _activated(
        self, resource: str, thread: str, reader: Reader, name: str, ask: ComposedAsk, model: str | None
    ) -> Steps[tuple[Snapshot, RecordedSettings]]:
        """What is read of a memory once nothing is due in it that a client may activate."""
        for _ in range(_ACTIVATIONS):
            snapshot = yield from self._snapshot(resource, thread, reader, name, ask)
            now = self._in_force(resource, snapshot.record)
            turning = turns(snapshot, model, now.limits)
            pressure = pressure_of(snapshot, reader.read_at, other_model=turning and bool(snapshot.thread.model))
            move = decide(pressure, now.limits, snapshot.now)
            ours = (snapshot.stands_for or name) == thread and self._may_write(resource)
            if move.kind != "activate" or not snapshot.record.epoch or not ours:
                if turning and ours and model:
                    yield from self._note_model(snapshot, model)
                break
            if not (yield from self._activate(snapshot, move.chunks, now)):
                break
        return snapshot, now

    def _may_write(self, resource: str) -> bool:
        return resource not in self._only_read and not self._settings.for_agent(resource).read_only

    def _snapshot(self, resource: str, thread: str, reader: Reader, name: str, ask: ComposedAsk) -> Steps[Snapshot]:
        try:
            snapshot = yield from self._look(resource, thread, reader, name, ask)
        except CANNOT_BE_READ:
            left = yield from self._composer.readable(ask)
            if left.names == ask.names:
                raise
            snapshot = yield from self._look(resource, thread, reader, name, left)
        reader.snapshot = snapshot if self._fails_open else None
        return snapshot

    def _look(self, resource: str, thread: str, reader: Reader, name: str, ask: ComposedAsk) -> Steps[Snapshot]:
        configured = reading.as_scope(resource, thread, self._settings.for_agent(resource).scope)
        known = (reader.names or Names(configured, (), ()))._replace(newest=reader.newest)
        beside = Beside(ask.names, reader.composed, name)
        snapshot, reader.names = yield from reading.snapshot(
            self._keys, resource, thread, known, reader.past, configured, beside
        )
        return ask.of(snapshot)

    def _in_force(self, resource: str, record: Record) -> RecordedSettings:
        return recorded_settings.read(record.limits) or recorded_settings.of(self._settings.for_agent(resource))

    def _activate(self, snapshot: Snapshot, chosen: Sequence[str], now: RecordedSettings) -> Steps[bool]:
        """Activate on the way; False when the store takes no writes just now: what was read is served as it is."""
        scope, epoch = snapshot.scope, snapshot.record.epoch
        try:
            with spans.committing(scope, decoding.made_by(snapshot.chunks, chosen)).apart() as span:
                done = yield from activate(
                    self._keys,
                    scope,
                    epoch,
                    snapshot.chunks,
                    chosen,
                    now.retention_s,
                    read_at=snapshot.now,
                    count=self._count,
                )
                span.note(outcome=done, chunks=len(chosen))
            if done is Outcome.ACTIVATED:
                yield from self._mark_reflect(snapshot, chosen, now.limits)
                yield from self._reporter.publish(events.activated(scope, snapshot.chunks, chosen, "client"))
        except StoreError as error:
            if error.stored is not False:
                raise
            if isinstance(error, NotPermittedError):
                self._only_read.put(scope.resource, value=True)
            return False
        return True

    def _note_model(self, snapshot: Snapshot, model: str) -> Steps[None]:
        try:
            yield from note.read_for(self._keys, snapshot.scope, snapshot.thread.id, snapshot.record.epoch, model)
        except NotPermittedError:
            self._only_read.put(snapshot.scope.resource, value=True)
        except StoreError:  # what was read is served as it is: the next context says it again
            return

    def _mark_reflect(self, snapshot: Snapshot, chosen: Sequence[str], limits: Limits) -> Steps[None]:
        gained = [
            decoding.as_observation(c.observation).tokens for c in snapshot.chunks if c.id in chosen and c.observation
        ]
        tokens = snapshot.record.observation_tokens + sum(gained)
        if is_full(tokens, snapshot.record.observation_count + len(gained), limits):
            yield from due.mark(self._keys.due_reflect, [snapshot.scope])

    def _mark_urgent(self, snapshot: Snapshot, limits: Limits) -> Steps[None]:
        """Have workers look soon, where they may do anything and this client may say so."""
        name, now = str(snapshot.scope), time.monotonic()
        idle = not limits.enabled or limits.read_only or snapshot.paused
        if idle or not self._may_write(snapshot.scope.resource):
            return
        if now - self._urgent.get(name, -_URGENT_EVERY_S) >= _URGENT_EVERY_S:
            self._urgent.put(name, now)
            with suppress(StoreError):  # the sweep finds what a mark could not say
                yield from due.mark(self._keys.due_observe, [snapshot.scope], urgent=True)

    def without_store(
        self,
        resource: str,
        thread: str,
        unsent: Sequence[Message],
        max_tokens: int | None,
        ask: ComposedAsk = NOTHING_COMPOSED,
    ) -> Context:
        """A context of what was read last and what could not be sent yet, saying that memory was unavailable."""
        thread = self._aliases.thread(resource, thread)
        last = self._readers.of(resource, thread).snapshot or _nothing(resource, thread)
        known = {message.id for message in last.messages}
        here = [m for m in unsent if m.resource_id == resource and m.id not in known]
        own = [m for m in here if self._aliases.thread(resource, m.thread_id) == thread]
        snapshot = ask.of(msgspec.structs.replace(last, messages=[*last.messages, *own], left_out={}))
        view = self._in_force(resource, last.record).view_of(last.record.observation_tokens)
        snapshot, view = _part_shown(snapshot, view)
        now = int(time.time() * 1000)
        return context.build(snapshot, view, self._count, now, max_tokens, unavailable=True)


def _part_shown(snapshot: Snapshot, view: View) -> tuple[Snapshot, View]:
    """The same, or if the thread starts without memory its `own_part`, without a working memory of the resource."""
    if snapshot.thread.reads_memory:
        return snapshot, view
    if view.working and view.working.of == "resource":
        view = msgspec.structs.replace(view, working=None)
    return own_part(snapshot), view


def _check(resource: str, thread: str, max_tokens: object) -> None:
    check_id(resource, "resource_id")
    check_id(thread, "thread_id")
    if max_tokens is not None and (type(max_tokens) is not int or max_tokens < 1):
        raise InvalidInputError(
            f"max_tokens is {str(max_tokens)[:40]!r}: use a number of tokens from 1 on, or None for what the setting "
            "context_max_tokens says"
        )


def pressure_of(snapshot: Snapshot, read_at: int = 0, *, other_model: bool = False) -> Pressure:
    """A snapshot's pressure; what only workers look at (idle times, forced requests) is left out.

    `read_at` is when this client read the thread last (server's ms).
    """
    own = snapshot.scope.thread
    return Pressure(
        chunks=snapshot.chunks,
        unsealed={t: value for t, value in snapshot.unsealed.items() if own in {None, t}},
        observation_tokens=snapshot.record.observation_tokens,
        observation_count=snapshot.record.observation_count,
        drain=snapshot.record.drain,
        paused=snapshot.paused,
        cached_at=last_use(snapshot, read_at),
        other_model=other_model,
        reflection_tokens=snapshot.record.reflection_tokens,
    )


def _is_known(snapshot: Snapshot) -> bool:
    """Whether there is a memory at all: whoever may read everybody's may ask for any name, and no figures are kept of those."""
    return bool(snapshot.record.epoch or snapshot.unsealed or snapshot.messages)


def _nothing(resource: str, thread: str) -> Snapshot:
    empty, state = Record(), ThreadState(id=thread)
    return Snapshot(scope=Scope(resource), thread=state, record=empty, messages=[], chunks=[], observations=[])

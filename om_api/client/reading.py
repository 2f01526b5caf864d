"""Reading what a memory holds, tier by tier, of a resource or of one thread; and which memory answers for either."""

from collections.abc import Callable
from functools import partial
from typing import NamedTuple, TypeVar, overload
from zoneinfo import ZoneInfo

import msgspec

from om_api.client.partly import Partly
from om_api.domain.errors import InvalidInputError, NotFoundError
from om_api.domain.histories.retraction import standing
from om_api.domain.messages import Message
from om_api.domain.notes.groups import NoteGroup, check_group, groups_of, is_period
from om_api.domain.notes.groups import within as groups_within
from om_api.domain.values import Chunk, Generation, Observation, Record, Scope, ThreadState, check_id, shown
from om_api.settings import Settings
from om_api.store.driver.steps import Askable, Leniently, Steps
from om_api.store.memory import clear, kept, reading, scope_state
from om_api.store.memory.keys import Keys
from om_api.store.memory.known import retracted
from om_api.store.threads.aliases import resolve
from om_api.store.threads.describing import ThreadsWanted, listed

T = TypeVar("T")


class Era(NamedTuple):
    """One generation and the observations it replaced (empty once they have expired)."""

    generation: Generation
    replaced: tuple[Observation, ...]


class Scopes:
    """Which memory answers for a name: the stored scope wins over the configured one. Raises InvalidInputError for no name."""

    def __init__(self, settings: Settings, keys: Keys) -> None:
        self._settings, self._keys = settings, keys

    def of(self, resource: str, thread: str | None) -> Steps[Scope]:
        """The scope that covers a thread; that of the resource where none is named."""
        configured = self._settings.for_agent(check_id(resource, "resource_id")).scope
        named = thread and check_id(thread, "thread_id")
        return (yield from reading.scope_in_force(self._keys, resource, named, configured))

    @overload
    def named(self, resource: str, thread: str) -> Steps[str]: ...
    @overload
    def named(self, resource: str, thread: str | None) -> Steps[str | None]: ...
    def named(self, resource: str, thread: str | None) -> Steps[str | None]:
        """The thread that a name is of: what it is an alias of, else itself; none where none is named."""
        check_id(resource, "resource_id")
        if thread is None:
            return None
        return (yield from resolve(self._keys, resource, check_id(thread, "thread_id")))

    def one(self, resource: str, thread: str | None) -> Steps[Scope]:
        """The same; in thread scope a thread must be named."""
        scope = yield from self.of(resource, thread)
        if thread is None and (yield from self._word(resource)) == "thread":
            raise InvalidInputError(f"{resource} keeps one memory a thread: name a thread_id (om.threads lists them)")
        return scope

    def every(self, resource: str, *, hinted: bool = False) -> Steps[list[Scope]]:
        """Every scope of a resource: the resource itself, or its threads in thread scope.

        With `hinted` those too that wait for adoption and are known by nothing else: all hints of the store are looked through.
        """
        check_id(resource, "resource_id")
        if (yield from self._word(resource)) == "resource":
            return [Scope(resource)]
        threads = yield from (clear.threads_of if hinted else clear.threads_met)(self._keys, resource)
        return [Scope(resource, thread) for thread in threads]

    def holding(self, resource: str, thread: str | None, *, hinted: bool = False) -> Steps[list[Scope]]:
        """The scopes that hold something of a thread, or of every one; `hinted` as in `every`."""
        scopes = yield from self.every(resource, hinted=hinted)
        return scopes if thread is None else [scope for scope in scopes if scope.thread in {None, thread}]

    def _word(self, resource: str) -> Steps[str]:
        stored = yield from reading.stored_scope(self._keys, resource)
        return stored or self._settings.for_agent(resource).scope


def _partly(steps: Steps[list[T]]) -> Steps[Partly[T]]:
    """What steps read, without what the archive does not give."""
    missed = yield from Leniently()
    found = yield from steps
    return Partly(found, missed[0] if missed else "")


class MemoryReader:
    """Reads a store's memories."""

    def __init__(self, keys: Keys, scopes: Scopes) -> None:
        self._keys, self._scopes = keys, scopes

    def record(self, resource: str, thread: str | None) -> Steps[Record]:
        """A scope's bookkeeping; in thread scope a thread must be named."""
        scope = yield from self._scopes.one(resource, (yield from self._scopes.named(resource, thread)))
        return (yield from scope_state.look(self._keys, scope)).record

    def observations(self, resource: str, thread: str | None = None) -> Steps[list[Observation]]:
        """Tier 2, oldest first: of every thread, or of one."""
        thread = yield from self._scopes.named(resource, thread)
        stored = yield from self._each(resource, thread, partial(reading.observations, self._keys))
        return [each.observation for each in stored if thread in {None, each.observation.thread_id}]

    def _each(self, resource: str, thread: str | None, read: Callable[[Scope], Askable[list[T]]]) -> Steps[list[T]]:
        """What is read of every scope that holds something of a thread, or of all threads."""
        found: list[T] = []
        for scope in (yield from self._scopes.holding(resource, thread)):
            found += yield from read(scope)
        return found

    def chunks(self, resource: str, thread: str | None = None) -> Steps[list[Chunk]]:
        """What is sealed and not activated yet, oldest first, without what it came to."""
        found: list[Chunk] = []
        thread = yield from self._scopes.named(resource, thread)
        for scope in (yield from self._scopes.holding(resource, thread)):
            found += (yield from scope_state.look(self._keys, scope)).chunks
        bare = (msgspec.structs.replace(chunk, observation=None) for chunk in found if thread in {None, chunk.thread})
        return sorted(bare, key=lambda chunk: (chunk.sealed_at, chunk.seq))

    def messages(self, resource: str, thread: str, newest: int | None = None) -> Steps[list[Message]]:
        """The raw messages of a thread that contexts show, oldest first: all, or the `newest` of them."""
        if newest is not None and newest < 1:
            raise InvalidInputError(f"newest is {shown(newest)}: use 1 or more, or leave it out for all")
        thread = yield from self._scopes.named(resource, thread)
        scope = yield from self._scopes.of(resource, thread)
        marks = (yield from retracted(self._keys, resource, [thread]))[thread]
        found = yield from kept.living(self._keys, scope, thread, newest + len(marks) if newest else 0)
        return standing(found, marks)[-(newest or 0) :]

    def sources(self, observation: str, resource: str) -> Steps[Partly[Message]]:
        """The messages behind an observation, oldest first; none once they have expired."""
        check_id(resource, "resource_id")
        thread = yield from reading.source_thread(self._keys, resource, check_id(observation, "observation"))
        return (yield from _partly(iter(reading.source_messages(self._keys, resource, observation, thread))))

    def generations(self, resource: str, thread: str | None = None) -> Steps[Partly[Generation]]:
        """Tier 3, oldest first; the last of a scope is in force."""
        thread = yield from self._scopes.named(resource, thread)
        return (yield from _partly(self._each(resource, thread, partial(reading.generations, self._keys))))

    def history(self, resource: str, thread: str | None = None) -> Steps[Partly[Era]]:
        """The generations with what each of them replaced, oldest first."""
        thread = yield from self._scopes.named(resource, thread)
        return (yield from _partly(self._each(resource, thread, self._eras)))

    def _eras(self, scope: Scope) -> Steps[list[Era]]:
        eras: list[Era] = []
        for generation in (yield from reading.generations(self._keys, scope)):
            replaced = yield from reading.replaced(self._keys, scope, generation.n)
            eras.append(Era(generation, tuple(stored.observation for stored in replaced)))
        return eras

    def replaced(self, resource: str, thread: str | None, generation: int) -> Steps[Partly[Observation]]:
        """What one generation replaced, oldest first; none once it has expired."""
        if not 0 <= generation < reading.MOST_GENERATIONS:
            return Partly()
        thread = yield from self._scopes.named(resource, thread)
        each = self._each(resource, thread, lambda scope: reading.replaced(self._keys, scope, generation))
        found = yield from _partly(each)
        return Partly((stored.observation for stored in found), found.partial)

    def groups(self, resource: str, thread: str | None, within: object, timezone: str) -> Steps[Partly[NoteGroup]]:
        """The groups of notes that were set aside, oldest first: of every thread, or of one; those of a period alone."""
        period, zone = check_group(within), ZoneInfo(timezone)
        thread = yield from self._scopes.named(resource, thread)
        kept = yield from _partly(self._each(resource, thread, partial(reading.set_aside, self._keys)))
        found = groups_of((each for each in kept if thread in {None, each[1].thread_id}), zone)
        some = (
            groups_within(found, period, zone) if is_period(period) else [each for each in found if each.id == period]
        )
        return Partly(some, kept.partial)

    def group(self, name: object, resource: str, thread: str | None) -> Steps[Partly[Observation]]:
        """The notes of one group, oldest first. NotFoundError where nothing is kept under that name."""
        wanted = check_group(name)
        if is_period(wanted):
            raise InvalidInputError(f"{wanted} names several groups: list them, and read one by its own name")
        thread = yield from self._scopes.named(resource, thread)
        kept = yield from _partly(self._each(resource, thread, partial(reading.set_aside, self._keys)))
        found = [own for _, own in kept if own.group == wanted and thread in {None, own.thread_id}]
        if not found and not kept.partial:
            raise NotFoundError(f"{resource} keeps no group {wanted}: om groups {resource} lists those there are")
        return Partly(found, kept.partial)

    def threads(self, resource: str, wanted: ThreadsWanted) -> Steps[list[ThreadState]]:
        """Threads in an order, with what is unsealed and what is said of them."""
        return listed(self._keys, check_id(resource, "resource_id"), wanted)

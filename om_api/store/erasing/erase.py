"""Erasing: a text, a message or an observation is found in every tier of a resource's memories, and taken out of each at once."""

from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from contextlib import suppress
from typing import TypeAlias

import msgspec

from om_api.context.parts import plain
from om_api.domain.errors import InvalidInputError, NotFoundError, StoreError
from om_api.domain.values import Outcome, Scope
from om_api.store.driver.replies import as_int, as_list, says
from om_api.store.driver.steps import Steps, Verb, batch
from om_api.store.erasing.erasable import (
    Erasable,
    ErasableCopy,
    ErasableMessage,
    ErasableObservation,
    ErasableText,
    texts_in,
)
from om_api.store.erasing.plan import Plan, Quarantine, call
from om_api.store.erasing.planner import Planner
from om_api.store.erasing.whole_memory import WholeMemory, whole_memory
from om_api.store.memory import due
from om_api.store.memory.adopt import Redacts, adopt
from om_api.store.memory.clear import threads_of
from om_api.store.memory.content import content
from om_api.store.memory.decoding import as_generation
from om_api.store.memory.keys import Keys
from om_api.store.memory.push import ServerClock
from om_api.store.memory.quarantine import as_rejected, is_as_listed
from om_api.store.working import working

_TRIES = 8
Found: TypeAlias = "Callable[[Sequence[WholeMemory]], Erasable]"  # what is to be erased, once it is known what there is


class ErasedMessage(msgspec.Struct, frozen=True):
    """A message that went."""

    thread_id: str
    id: str


class ErasedLines(msgspec.Struct, frozen=True):
    """Lines that went, of an observation or of a generation of the memory of `thread_id` (None: of all threads)."""

    thread_id: str | None
    id: str
    lines: tuple[str, ...]


class Erased(msgspec.Struct, frozen=True):
    """What an erasure took out of a resource, or would: `cleared`, or `rest` where there is nothing of it.

    Of `generations` one is called `draft` that waits for its review, or was sent back: it goes whole, and is thought again.
    An observation in force goes with all of its lines, those corrected by hand too, where a message behind it goes.
    `observed_again` names the chunks and observations of which something is left: workers will observe that again, and
    until then it is read as it was said. `rejected` are entries of the quarantine, `fields` those of threads, `pins` lines that
    are pinned no longer, because they stand nowhere any more. `working_memory` are the threads ("": the resource) in
    whose working memory, or a former version of it, a field told it.
    """

    outcome: Outcome
    messages: tuple[ErasedMessage, ...] = ()
    observed_again: tuple[str, ...] = ()
    observations: tuple[ErasedLines, ...] = ()
    generations: tuple[ErasedLines, ...] = ()
    fields: tuple[ErasedLines, ...] = ()
    rejected: tuple[str, ...] = ()
    pins: tuple[ErasedLines, ...] = ()
    working_memory: tuple[str, ...] = ()

    def counts(self) -> dict[str, int]:
        """How many messages, observations, generations and rejected entries it touched."""
        noted = {*self.observed_again, *(each.id for each in self.observations)}
        return {
            "messages": len(self.messages),
            "observations": len(noted),
            "generations": len(self.generations),
            "rejected": len(self.rejected),
        }


class Eraser:
    """Erases from the memories of one resource, of which `scopes` says what they are; or tells what it would.

    What plain writers left is redacted as `redacts` says.
    """

    def __init__(
        self,
        keys: Keys,
        clock: ServerClock,
        scopes: Callable[[], Steps[list[Scope]]],
        count: Callable[[str], int],
        redacts: Redacts,
    ) -> None:
        self._keys, self._clock, self._scopes, self._count, self._redacts = keys, clock, scopes, count, redacts

    def erase(self, resource: str, find: Found, *, dry_run: bool = False) -> Steps[Erased]:
        """Take out what `find` finds. Each memory changes at once; whoever dies between two of them erases again.

        Raises StoreError for what changes faster than it can be read, and whatever `find` raises.
        """
        target, done, entries = None, list[Plan](), list[bytes]()
        for _ in range(_TRIES):
            listed, read = yield from self._read(resource)
            target = target or find(read)
            if not dry_run and (yield from self._adopted(resource, read)):
                continue
            plans = [plan for each in read if (plan := Planner(each, target, self._count).plan())]
            found = [entry for entry in listed if target.is_entry(as_rejected(entry))]
            if dry_run:
                return _told(plans, found, (yield from self._working(resource, target, dry_run=True)))
            committed, removed = yield from self._commit(resource, plans, Quarantine(listed, found))
            done, entries = done + committed, entries + removed
            if len(committed) == len(plans) and len(removed) == len(found):
                return _told(done, entries, (yield from self._working(resource, target)))
        raise _too_fast(resource)

    def _working(self, resource: str, target: Erasable, *, dry_run: bool = False) -> Steps[list[str]]:
        """Take out of the working memories what tells it. Last: what an Observer proposes is gone with its notes by then."""
        return (yield from working.erase(self._keys, resource, target.is_field, dry_run=dry_run))

    def _adopted(self, resource: str, read: Sequence[WholeMemory]) -> Steps[bool]:
        """Have what plain writers left counted, or rejected; whether there was any."""
        waiting = [(each.content.scope, name) for each in read for name, of in each.threads.items() if of.uncounted]
        redaction = self._redacts(resource) if waiting else None
        for scope, thread in waiting:
            yield from adopt(self._keys, self._clock, resource, thread, self._count, redaction)
            yield from due.mark(self._keys.due_observe, [scope])
        return bool(waiting)

    def _read(self, resource: str) -> Steps[tuple[list[bytes], list[WholeMemory]]]:
        """The quarantine and every memory, as they stood while they were read: what is found nowhere in them was nowhere.

        Time 0: we read which chunks there are. Time 1: a message is sealed as a new one. Time 2: we read what is raw. It would be
        in neither, and nothing be erased. So whatever moved meanwhile is read again: what was rejected, or retried, too.
        """
        for _ in range(_TRIES):
            listed = yield from as_list("LRANGE", self._keys.of(resource).rejected, 0, -1)
            scopes, read = (yield from self._scopes()), list[WholeMemory]()
            threads = yield from threads_of(self._keys, resource)
            for scope in scopes:
                read += [(yield from whole_memory(self._keys, scope, [scope.thread] if scope.thread else threads))]
            if (yield from self._still(scopes, read)) and (yield from is_as_listed(self._keys, resource, listed)):
                return listed, read
        raise _too_fast(resource)

    def _still(self, scopes: Sequence[Scope], read: Sequence[WholeMemory]) -> Steps[bool]:
        for each in read:
            if (yield from content(self._keys, each.content.scope)) != each.content:
                return False
        return (yield from self._scopes()) == scopes

    def _removed(self, resource: str, entries: Sequence[bytes]) -> Steps[list[bytes]]:
        """Remove entries of the quarantine; those that were still there."""
        rejected = self._keys.of(resource).rejected
        if not entries:
            return []
        counts = yield from batch(*(as_int("LREM", rejected, 0, entry) for entry in entries)).writing()
        return [entry for entry, count in zip(entries, counts, strict=True) if count]

    def _commit(
        self, resource: str, plans: Sequence[Plan], quarantine: Quarantine
    ) -> Steps[tuple[list[Plan], list[bytes]]]:
        """Carry plans out, until one is no longer of what there is; those that were, and the entries that went."""
        if not plans:
            return [], (yield from self._removed(resource, quarantine.gone))
        of, done, waiting = self._keys.of(resource), list[Plan](), quarantine
        for plan in plans:
            scope = plan.held.content.scope
            word = "resource" if scope.thread is None else "thread"
            if not (yield from Verb("erase", *call(plan, waiting, of, word, self._count), says(b"cleared"))):
                break
            done, waiting = [*done, plan], quarantine.left
            if plan.observes_again:
                with suppress(StoreError):  # it is erased; the sweep finds what a mark could not say
                    yield from due.mark(self._keys.due_observe, [scope])
        return done, quarantine.gone if done else []


def _too_fast(resource: str) -> StoreError:
    return StoreError(f"{resource} changes faster than it can be erased from: repeat.", stored=None)


def _told(plans: Sequence[Plan], entries: Sequence[bytes], kept: Sequence[str]) -> Erased:
    return Erased(
        Outcome.CLEARED if plans or entries or kept else Outcome.REST,
        tuple(ErasedMessage(kept.message.thread_id, kept.message.id) for plan in plans for kept in plan.messages),
        tuple(name for plan in plans for name in plan.observes_again),
        tuple(each for plan in plans for each in _notes(plan)),
        tuple(each for plan in plans for each in _generations(plan)),
        tuple(each for plan in plans for each in _fields(plan)),
        tuple(as_rejected(entry).id for entry in entries),
        tuple(ErasedLines(_thread(plan), pin.id, (pin.text,)) for plan in plans for pin in plan.unpinned),
        tuple(sorted({name.partition(":")[2] for name in kept})),
    )


def _notes(plan: Plan) -> Iterator[ErasedLines]:
    for name, lines in (*plan.taken_apart, *((each.name, each.lines) for each in plan.notes)):
        yield ErasedLines(_thread(plan), name, tuple(lines))


def _generations(plan: Plan) -> Iterator[ErasedLines]:
    for each in plan.generations:
        yield ErasedLines(_thread(plan), each.name, each.lines)
    if plan.drafted:
        yield ErasedLines(_thread(plan), "draft", plan.drafted)


def _fields(plan: Plan) -> Iterator[ErasedLines]:
    for thread, fields in plan.fields.items():
        for field in fields:
            yield ErasedLines(thread, field, tuple(plan.held.threads[thread].fields.get(field, "").split("\n")))


def _thread(plan: Plan) -> str | None:
    return plan.held.content.scope.thread


# -- what is to be erased ----------------------------------------------------------------------------------------------


def a_text(text: str) -> Found:
    """Whatever holds a text. Raises InvalidInputError for one that is blank."""
    target = ErasableText(text)
    return lambda _: target


def a_message(resource: str, name: str, thread: str | None) -> Found:
    """One message, with the lines that tell what it said of what a reflection made of it.

    Raises InvalidInputError where there is none of this id, where several threads have one and none is named, and where it
    has expired behind an observation, so that nobody can tell which lines are of it.
    """

    def find(read: Sequence[WholeMemory]) -> Erasable:
        having = {
            kept.message.thread_id: kept.message
            for each in read
            for kept in each.everything()
            if kept.message.id == name
        }
        if thread is not None:
            having = {of: message for of, message in having.items() if of == thread}
        if len(having) > 1:
            raise InvalidInputError(
                f"{name} is a message of {len(having)} threads, {_some(having)}: name the one that is meant"
            )
        if not having:
            raise NotFoundError(_missing(resource, name, thread, read))
        ((of, message),) = having.items()
        return ErasableMessage(name, of, [plain(message)], [line for each in read for line in each.notes])

    return find


def _some(names: Mapping[str, object]) -> str:
    return ", ".join(sorted(names)[:5])


def _missing(resource: str, name: str, thread: str | None, read: Sequence[WholeMemory]) -> str:
    where = f"thread {thread} of {resource}" if thread else resource
    stored = [stored for each in read for stored in (*each.content.observations, *each.content.history)]
    for own in (each.observation for each in stored):
        if name in own.message_ids and thread in {None, own.thread_id}:
            return (
                f"message {name} of {where} has expired, and nobody can tell which lines of observation {own.id} are of it: "
                f"forget that observation, or erase by a text"
            )
    return f"{where} keeps no message {name}: check the id, or erase by a text"


def an_observation(resource: str, name: str) -> Found:
    """An observation that a reflection replaced, and what generations tell of it. Raises InvalidInputError for no such one."""

    def find(read: Sequence[WholeMemory]) -> Erasable:
        for stored in (stored for each in read for stored in each.content.history):
            if stored.observation.id == name:
                return ErasableObservation(stored.observation, [line for each in read for line in each.notes])
        raise NotFoundError(
            f"{resource} has no observation {name}: it expired, or it never was; erase by a text what is told of it"
        )

    return find


def a_copy(resource: str, name: str, going: Collection[str]) -> Found:
    """A note that another memory shared and a reflection took in, one of several that are `going`.

    Raises NotFoundError for no such one.
    """

    def find(read: Sequence[WholeMemory]) -> Erasable:
        for each in read:
            for n, history in each.content.histories.items():
                for own in (stored.observation for stored in history):
                    if own.id == name:
                        pinned = [pin.text for pin in each.content.pins]
                        return ErasableCopy(own, each.notes, _not_of(each, going, n), pinned)
        raise NotFoundError(f"{resource} has no observation {name}: it expired, or it was removed")

    return find


def _not_of(read: WholeMemory, going: Collection[str], n: int) -> Iterator[str]:
    """The lines of a memory that are not made of observations, of which its generation `n` took one in.

    These are the lines of other observations, of earlier generations, and those that somebody corrected.
    """
    content, before = read.content, list[str]()
    for own in (stored.observation for stored in (*content.observations, *content.history)):
        if own.id not in going:
            yield from own.text.split("\n")
            yield from (f"* {text}" for text in texts_in(own.extracted))
    for number, member in content.generations:
        made = as_generation(member)
        lines = made.text.split("\n")
        if number < n:
            yield from lines
        elif made.origin == "correction":
            yield from (line for line in lines if line not in before)
        before = lines

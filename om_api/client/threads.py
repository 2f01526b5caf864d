"""Threads as their owner names them: titles and metadata, what is archived, aliases, and copies."""

from collections.abc import Callable, Mapping
from contextlib import suppress
from functools import partial
from typing import Any

import msgspec

from om_api.client.owning import writable
from om_api.client.reading import Scopes
from om_api.client.reporting import Reporter
from om_api.client.writing import Writer
from om_api.domain.errors import InvalidInputError, QuotaReachedError, RateLimitedError, StoreError
from om_api.domain.events import Event
from om_api.domain.kept.titles import check_memory_mode, check_metadata, check_title
from om_api.domain.message_tokens import count_message
from om_api.domain.messages import Message
from om_api.domain.push_limits import Pusher
from om_api.domain.values import CopiedFrom, MemoryMode, Outcome, ThreadState, check_id
from om_api.domain.wire import EncodedMessage, encode_message
from om_api.settings import Settings
from om_api.store.archiving.changing import renamed
from om_api.store.driver.steps import Steps
from om_api.store.memory import due, reading
from om_api.store.memory.keys import Keys
from om_api.store.memory.push import ServerClock
from om_api.store.threads import aliases, copying
from om_api.store.threads.aliasing import Aliased, Aliasing
from om_api.store.threads.copying import Copied
from om_api.store.threads.describing import describe, set_memory_mode
from om_api.store.working import working


class ThreadKeeper:
    """What a memory's owner may say of its threads; nothing of a resource that is read_only is changed."""

    def __init__(
        self,
        settings: Settings,
        keys: Keys,
        clock: ServerClock,
        scopes: Scopes,
        count: Callable[[str], int],
        reporter: Reporter,
        writer: Writer,
    ) -> None:
        self._settings, self._keys, self._clock, self._scopes = settings, keys, clock, scopes
        self._count, self._reporter, self._writer = count, reporter, writer

    def set(
        self,
        resource: str,
        thread: str,
        title: str | None,
        metadata: Mapping[str, Any] | None,
        archived: bool | None,  # noqa: FBT001 - None leaves it as it is
        by: str,
        memory: MemoryMode | None = None,
    ) -> Steps[ThreadState]:
        """Say something of a thread; its state then."""
        self._writable(resource)
        fields: dict[str, Any] = {}
        if title is not None:
            said = check_title((yield from self._writer.redacting.stored(resource, title)))
            whose = (check_id(by, "by") if by else "owner") if said else ""
            fields |= {"title": said, "title_by": whose, "title_at": "", "title_from": ""}
        if metadata is not None:
            given = yield from self._writer.redacting.stored(resource, dict(metadata))
            fields["metadata"] = check_metadata(given) if given else ""
        named = check_id(thread, "thread_id")
        mode = memory if memory is None else check_memory_mode(memory)
        if fields or archived is not None or mode is None:  # first, because it refuses an unknown thread
            named = yield from describe(self._keys, resource, named, fields, archived=archived)
        if mode is not None:
            named = yield from self.set_memory(resource, named, mode)
        if fields or archived is not None or memory is not None:
            yield from self._tell("thread_changed", resource, named, by=by or None)
        (state,) = yield from reading.threads(self._keys, resource, [named])
        return state

    def set_memory(self, resource: str, thread: str, memory: MemoryMode) -> Steps[str]:
        """Set a thread's memory mode, also before its first message; returns the thread that the name is of.

        Time 0: a chunk is planned. Time 1: the mode becomes `off`. Time 2: the chunk cannot be sealed any more, see seal.lua.
        Setting the mode that is in force changes nothing.
        """
        self._writable(check_id(resource, "resource_id"))
        mode = check_memory_mode(memory)
        named, changed = yield from set_memory_mode(self._keys, resource, check_id(thread, "thread_id"), mode)
        if changed:
            with suppress(StoreError):  # the mode is set; the sweep finds what a mark could not say
                yield from due.mark(self._keys.due_observe, [(yield from self._scopes.of(resource, named))])
        return named

    def reads_memory(self, resource: str, thread: str) -> Steps[bool]:
        """Whether the contexts of a thread show the memory, by its memory mode."""
        named = yield from self._scopes.named(resource, thread)
        (state,) = yield from reading.threads(self._keys, resource, [named])
        return state.reads_memory

    # -- aliases ---------------------------------------------------------------------------------------------------------

    def alias(self, alias: str, thread: str, resource: str) -> Steps[Aliased]:
        """Have a name stand for a thread; what it holds by itself becomes that thread's."""
        self._writable(resource)
        redacts = self._writer.redacting.of_plain_writers
        aliasing = Aliasing(self._keys, self._clock, self._count, resource, self._versions(resource), redacts)
        yield from aliasing.target(alias, thread)
        change = partial(aliasing.alias, alias, thread, lambda: self._scopes.of(resource, alias))
        observed = yield from aliasing.holds(alias)
        if observed:  # what is refused need not come back from the archive
            yield from aliasing.check(alias, thread, lambda: self._scopes.of(resource, alias))
        did = yield from renamed(self._keys, resource, change) if observed else change()
        self._writer.aliases.learn(resource, alias, did.thread)
        with suppress(StoreError):  # it is one; the sweep finds what a mark could not say
            yield from due.mark(self._keys.due_observe, [(yield from self._scopes.of(resource, did.thread))])
        yield from self._tell("thread_aliased", resource, alias, to=did.thread)
        return did

    def unalias(self, alias: str, resource: str) -> Steps[Outcome]:
        """End an alias: `cleared`, or `rest` where it is none. What came by it stays with the thread."""
        self._writable(resource)
        stood = yield from aliases.unalias(self._keys, resource, alias)
        self._writer.aliases.learn(resource, alias, "")
        if not stood:
            return Outcome.REST
        yield from self._tell("thread_unaliased", resource, alias, to=stood)
        return Outcome.CLEARED

    def aliases(self, resource: str) -> Steps[dict[str, str]]:
        """Every alias of a resource, by name, with the thread that it stands for."""
        return iter(aliases.aliases(self._keys, check_id(resource, "resource_id")))

    # -- copies ----------------------------------------------------------------------------------------------------------

    def copy(
        self, thread: str, to: str, resource: str, until: str | None, to_resource: str | None, pusher: Pusher
    ) -> Steps[Copied]:
        """Make a thread that reads as another one does up to a message, and goes on by itself."""
        into = check_id(to_resource, "to_resource") if to_resource else check_id(resource, "resource_id")
        self._writable(into)
        source = yield from self._scopes.named(resource, thread)
        if check_id(to, "to") in (yield from aliases.aliases(self._keys, into)):
            raise InvalidInputError(f"{to} of {into} is an alias: copy into a thread of its own, or unalias it first")
        if until is not None:
            check_id(until, "until")
        scope = yield from self._scopes.of(resource, source)
        apart = into != resource or scope.thread is not None
        messages = yield from copying.to_copy(self._keys, scope, source, until, apart=apart)
        last = messages[-1]
        origin = CopiedFrom(resource_id=resource, thread_id=source, message_id=last.id)
        yield from copying.begin(self._keys, origin, into, to, last.at)
        placed = [msgspec.structs.replace(each, thread_id=to, resource_id=into) for each in messages]
        try:
            (was,) = yield from reading.threads(self._keys, resource, [source])
            if was.memory != "full":
                yield from self.set_memory(into, to, was.memory)
            yield from self._writer.send([self._encoded(each) for each in placed], pusher=pusher)
        except (QuotaReachedError, RateLimitedError):
            yield from copying.abandon(self._keys, origin, into, to)
            raise
        if into == resource:
            yield from working.carry(self._keys, scope, source, to, self._versions(resource))
        yield from self._tell("thread_copied", resource, source, to=to, messages=len(messages))
        return Copied(to, into, len(messages), last.id)

    def _versions(self, resource: str) -> int:
        return self._settings.for_agent(resource).working_memory.versions

    def _encoded(self, message: Message) -> EncodedMessage:
        if message.timestamp is None:
            message.timestamp = message.at
        redacting = self._writer.redacting
        if (cleaned := redacting.message(message)) is not message:
            message = msgspec.structs.replace(cleaned, tokens=None)
        message.tokens = count_message(message, self._count)
        member = encode_message(message)
        redacting.prepared(message.resource_id, member)
        return EncodedMessage(message, member)

    def _writable(self, resource: str) -> None:
        writable(self._settings, resource, "changed by hand")

    def _tell(self, kind: str, resource: str, thread: str, **carried: Any) -> Steps[None]:
        yield from self._reporter.publish(Event(kind=kind, resource=resource, thread=thread, **carried))

"""Owning a memory: what its owner removes, undoes, takes away, brings back or moves."""

from collections.abc import Callable, Iterable
from contextlib import suppress
from functools import partial
from typing import Any, TypeVar

from om_api.client.reading import Scopes
from om_api.client.redacting import Redacting
from om_api.client.reporting import Reporter
from om_api.domain import events
from om_api.domain.errors import InvalidInputError, OMError, StoreError
from om_api.domain.events import Event
from om_api.domain.values import Outcome, Scope, check_id, shown
from om_api.settings import MemorySettings, Settings, recorded_settings
from om_api.settings.composed_memories import named_memories
from om_api.store.archiving.changing import changed, cleared, everything, is_history, scrubbed, sources_of
from om_api.store.backup import unused_values
from om_api.store.backup.exporting import Outgoing
from om_api.store.backup.importing import Imported, Incoming
from om_api.store.backup.old_text import OldText, redact
from om_api.store.driver.steps import Steps
from om_api.store.driver.tolerant_read import UNREADABLE
from om_api.store.erasing import redacted
from om_api.store.erasing.erase import Erased, Eraser, a_message, a_text, an_observation
from om_api.store.memory import clear, due, migrate, quarantine, reading, restore, scope_state
from om_api.store.memory.clear import Cleared, forget
from om_api.store.memory.keys import Keys
from om_api.store.memory.push import ServerClock
from om_api.store.memory.quarantine import Rejected, Retrier, Several
from om_api.store.sharing import copies

T = TypeVar("T")


class Owner:
    """What a memory's owner may do to it; nothing that brings anything back is done to a resource that is read_only."""

    def __init__(
        self,
        settings: Settings,
        keys: Keys,
        clock: ServerClock,
        scopes: Scopes,
        count: Callable[[str], int],
        reporter: Reporter,
        redacting: Redacting,
    ) -> None:
        self._redacting = redacting
        self._settings, self._keys, self._clock, self._scopes = settings, keys, clock, scopes
        self._count, self._reporter = count, reporter

    def clear(self, resource: str, thread: str | None = None) -> Steps[Cleared]:
        """Remove a resource's memory, or one thread of it, in one step."""
        thread = yield from self._scopes.named(resource, thread)
        scope = yield from self._scopes.of(resource, thread)
        if thread is None:
            did = yield from cleared(self._keys, resource)
        else:
            part = partial(clear.clear_thread, self._keys, scope, thread, self._count)
            did = yield from self._changed(resource, part, everything)
        yield from self._reporter.publish(events.cleared(Scope(resource, thread), did.messages, did.observations))
        yield from self._take_along(resource)
        return did

    def erase(
        self, resource: str, text: str | None, message: str | None, thread: str | None, *, dry_run: bool
    ) -> Steps[Erased]:
        """Take a text, or a message of a thread, out of every tier; with `dry_run` tell what that would touch."""
        if (text is None) == (message is None):
            raise InvalidInputError(
                "name what is to be erased: either a text it holds (matching) or the id of a message"
            )
        if thread is not None and message is None:
            raise InvalidInputError("a text is erased from all threads: leave thread_id out, or name a message")
        text = None if text is None else self._redacting.asked(resource, text)
        named = yield from self._scopes.named(resource, thread)
        find = a_message(resource, check_id(message, "message"), named) if text is None else a_text(text)
        erase = partial(self._eraser(resource).erase, resource, find, dry_run=dry_run)
        done = yield from erase() if dry_run else self._changed(resource, erase, everything)
        if not dry_run and done.outcome is Outcome.CLEARED:
            yield from self._reporter.erased(resource, **done.counts())
            yield from self._take_along(resource)
        return done

    def redact(self, resource: str, *, dry_run: bool) -> Steps[OldText]:
        """Redact what the memory holds already, by its settings; with `dry_run` tell what that would touch."""
        redactor = self._redacting.before_store(check_id(resource, "resource_id"))
        if redactor is None:
            raise InvalidInputError(
                f"nothing is redacted of {resource} before it is stored: set redaction.before to store, then repeat"
            )
        work = partial(redact, self._keys, resource, redactor, dry_run=dry_run)
        if dry_run:
            return (yield from work())
        done = yield from self._changed(resource, work, everything)
        yield from scrubbed(resource)
        return done

    def _take_along(self, resource: str) -> Steps[None]:
        """Take back what was shared with others of what was removed; what one does not take now the sweep takes back."""
        composed = named_memories(self._settings.for_agent(resource).compose, resource)
        for target in (each.resource for each in composed if each.share):
            language = self._settings.for_agent(target).recall.language
            redacts = self._redacting.of_plain_writers
            with suppress(OMError, *UNREADABLE):
                for scope in (yield from self._scopes.every(target)):
                    yield from copies.take_back_gone(self._keys, self._clock, self._count, language, scope, redacts)

    def _changed(
        self, resource: str, change: Callable[[], Steps[T]], wanted: Callable[[str], bool], *, removes: bool = True
    ) -> Steps[T]:
        language = self._settings.for_agent(resource).recall.language
        if removes and (yield from redacted.mark(self._keys, resource)):
            change, wanted = partial(self._with_values, resource, change), everything
        return (yield from changed(self._keys, resource, language, change, wanted, removes=removes))

    def _with_values(self, resource: str, change: Callable[[], Steps[T]]) -> Steps[T]:
        """Make a change, and remove the encrypted values that nothing stands for any more."""
        did = yield from change()
        yield from unused_values.drop(self._keys, resource)
        return did

    def _eraser(self, resource: str) -> Eraser:
        every = partial(self._scopes.every, resource, hinted=True)
        return Eraser(self._keys, self._clock, every, self._count, self._redacting.of_plain_writers)

    def forget(self, observation: str, resource: str) -> Steps[Outcome]:
        """Remove one observation with the messages behind it, and what generations tell of one that a reflection replaced."""
        check_id(observation, "observation")
        for scope in (yield from self._scopes.every(resource)):
            # at one instant: in the memory that a move makes, another observation may have this one's seq
            beside = reading.observations(self._keys, scope)
            state, stored = yield from scope_state.look_beside(self._keys, scope, beside)
            if found := next((each for each in stored if each.observation.id == observation), None):
                forgetting = partial(forget, self._keys, scope, state.record.epoch, found)
                done = yield from self._changed(resource, forgetting, sources_of([observation]))
                if done is Outcome.CLEARED:
                    yield from self._reporter.publish(events.forgotten(resource, found.observation))
                    yield from self._take_along(resource)
                return done
        erase = partial(self._eraser(resource).erase, resource, an_observation(resource, observation))
        erased = yield from self._changed(resource, erase, everything)
        event = Event(kind="forgotten", resource=resource, observation=observation, messages=len(erased.messages))
        yield from self._reporter.publish(event)
        yield from self._take_along(resource)
        return erased.outcome

    def restore(self, resource: str, generation: int, thread: str | None = None) -> Steps[Outcome]:
        """Make an earlier generation's text the next one; see restore.restore."""
        settings = writable(self._settings, resource, "restored")
        if not 0 <= generation < reading.MOST_GENERATIONS:
            raise InvalidInputError(f"{shown(generation)} is no generation: use one that om history lists, or 0")
        scope = yield from self._scopes.one(resource, (yield from self._scopes.named(resource, thread)))
        now_ms = yield from due.server_ms()
        ttl = recorded_settings.of(settings).retention_s
        keep, count = settings.kept_generations, self._count
        undo = partial(restore.restore, self._keys, scope, generation, keep, ttl, now_ms, count)
        done = yield from self._changed(resource, undo, is_history, removes=False)
        if done is Outcome.RESTORED:
            with suppress(StoreError):  # it is restored; the sweep finds what a mark could not say
                yield from due.mark(self._keys.due_reflect, [scope])
            yield from self._publish("restored", scope, generation=generation)
        return done

    def rejected(self, resource: str, newest: int | None = None) -> Steps[list[Rejected]]:
        """A resource's quarantine, oldest first: all of it, or its `newest` entries."""
        return quarantine.entries(self._keys, check_id(resource, "resource_id"), newest)

    def retry_rejected(self, resource: str, entry: str) -> Steps[Outcome]:
        """Give what an entry holds another chance; see quarantine.retry."""
        scope = writable(self._settings, resource, "retried").scope
        retry = partial(quarantine.retry, self._keys, resource, entry, scope)
        placeholders = sources_of(each.observation for each in (yield from self.rejected(resource)))
        return (yield from self._changed(resource, retry, placeholders, removes=False))

    def retry_each(self, resource: str, names: Iterable[str]) -> Several:
        """Give what entries hold another chance, one after the other."""
        retrier = Retrier(self._keys, resource, writable(self._settings, resource, "retried").scope)

        def retry(entry: bytes) -> Steps[Outcome]:
            source = sources_of([quarantine.as_rejected(entry).observation])
            return self._changed(resource, partial(retrier.retry, entry), source, removes=False)

        return Several(self._keys, resource, names, retry)

    def drop_each(self, resource: str, names: Iterable[str]) -> Several:
        """Remove entries of the quarantine, one after the other."""
        check_id(resource, "resource_id")
        return Several(self._keys, resource, names, quarantine.dropping(self._keys, resource))

    def drop_rejected(self, resource: str, entry: str) -> Steps[Outcome]:
        """Remove an entry of the quarantine; what covers its message stays."""
        return quarantine.drop(self._keys, check_id(resource, "resource_id"), entry)

    def outgoing(self, resource: str) -> Outgoing:
        """A resource on its way into a file."""
        return Outgoing(self._keys, check_id(resource, "resource_id"))

    def incoming(self, resource: str | None) -> Incoming:
        """A memory on its way from a file into a resource; None: the one it was of."""
        redacting = self._redacting
        check = self._check_importable
        return Incoming(self._keys, resource, check, self._count, redacting.before_store, redacting.moved)

    def commit(self, incoming: Incoming) -> Steps[Imported]:
        """Make what arrived the resource's memory; see Incoming.commit."""
        made = yield from incoming.commit()
        counts = {"messages": made.messages, "observations": made.observations, "generations": made.generations}
        yield from self._publish("imported", Scope(made.resource), **counts)
        return made

    def _check_importable(self, resource: str) -> None:
        writable(self._settings, resource, "imported")

    def migrate_scope(self, resource: str, to: str) -> Steps[Outcome]:
        """Move a memory to the other scope; `busy` while chunks are still being observed (repeat then)."""
        now = recorded_settings.of(self._settings.for_agent(check_id(resource, "resource_id")))
        move = partial(migrate.migrate, self._keys, resource, to, self._count, now)
        done = yield from self._changed(resource, move, is_history, removes=False)
        if done is Outcome.ACTIVATED:
            yield from self._publish("migrated", Scope(resource), to=to)
        return done

    def _publish(self, kind: str, scope: Scope, **carried: Any) -> Steps[None]:
        yield from self._reporter.publish(Event(kind=kind, resource=scope.resource, thread=scope.thread, **carried))


def writable(settings: Settings, resource: str, what: str) -> MemorySettings:
    """The settings of a resource into which something is to be `what`; raises InvalidInputError for one that is read_only."""
    own = settings.for_agent(check_id(resource, "resource_id"))
    if own.read_only:
        raise InvalidInputError(f"{resource} is read_only: nothing of it is written, so nothing is {what}")
    return own

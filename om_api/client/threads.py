"""Threads as their owner names them: titles and metadata, what is archived, aliases, and copies."""

from collections.abc import Callable
from contextlib import suppress
from functools import partial
from typing import Any

from om_api.client.owning import writable
from om_api.client.reading import Scopes
from om_api.client.reporting import Reporter
from om_api.client.writing import Writer
from om_api.domain.errors import StoreError
from om_api.domain.events import Event
from om_api.domain.values import Outcome, check_id
from om_api.settings import Settings
from om_api.store.archiving.changing import renamed
from om_api.store.driver.steps import Steps
from om_api.store.memory import due
from om_api.store.memory.keys import Keys
from om_api.store.memory.push import ServerClock
from om_api.store.threads import aliases
from om_api.store.threads.aliasing import Aliased, Aliasing


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

    # -- aliases ---------------------------------------------------------------------------------------------------------

    def alias(self, alias: str, thread: str, resource: str) -> Steps[Aliased]:
        """Have a name stand for a thread; what it holds by itself becomes that thread's."""
        self._writable(resource)
        aliasing = Aliasing(self._keys, self._clock, self._count, resource)
        yield from aliasing.target(alias, thread)
        change = partial(aliasing.alias, alias, thread, lambda: self._scopes.of(resource, alias))
        observed = yield from aliasing.holds(alias)
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

    def _writable(self, resource: str) -> None:
        writable(self._settings, resource, "changed by hand")

    def _tell(self, kind: str, resource: str, thread: str, **carried: Any) -> Steps[None]:
        yield from self._reporter.publish(Event(kind=kind, resource=resource, thread=thread, **carried))

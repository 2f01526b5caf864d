"""What a client tells the store beside its messages: what it served, and what it did. Best effort: none of it is a memory."""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress

from om_api.client.remembered.context_usage import ContextUsage
from om_api.context import Block
from om_api.domain.errors import NotPermittedError, StoreError
from om_api.domain.events import Event
from om_api.domain.snapshot import Snapshot
from om_api.domain.webhooks.hook import HookFailure
from om_api.store.driver.steps import Steps
from om_api.store.fleet import event_stream, hook_failures, spending
from om_api.store.memory.keys import Keys
from om_api.store.memory.push import ServerClock

_AT_ONCE = 200  # resources whose figures go with one batch


class Reporter:
    """Tells until the ACL refuses. `usage` is the tally of the contexts served; None: none is kept."""

    def __init__(self, keys: Keys, clock: ServerClock, *, tally: bool = True) -> None:
        self._keys, self._clock = keys, clock
        self.usage: ContextUsage | None = ContextUsage()
        if not tally:
            self.usage = None
        self._mute = False  # True once the ACL refused what is told of this client

    def served(self, snapshot: Snapshot, blocks: Sequence[Block]) -> None:
        """Tally one context."""
        if self.usage:
            self._clock.seen(snapshot.now)
            self.usage.count(snapshot, blocks)

    def tell_due(self, resources: Iterable[str]) -> Steps[None]:
        """Send what was tallied of some resources, where that is due."""
        if self.usage and (untold := self.usage.due(resources)):
            yield from self._tell(untold)

    def tell_all(self) -> Steps[None]:
        """Send whatever was tallied and not sent yet."""
        if self.usage:
            yield from self._tell(self.usage.all())

    def _tell(self, untold: dict[str, Counter[str]]) -> Steps[None]:
        names = list(untold)
        for start in range(0, len(names), _AT_ONCE):
            some = {name: untold[name] for name in names[start : start + _AT_ONCE]}
            try:
                yield from spending.tell(self._keys, self._clock, some)
                yield from self._count(some)
            except NotPermittedError:  # by an ACL that grants its memory only: such a client keeps no figures
                self.usage = None
                return
            except StoreError as error:
                left = names[start if error.stored is False else start + _AT_ONCE :]
                if self.usage:
                    self.usage.give_back({name: untold[name] for name in left})
                return

    def _count(self, served: Mapping[str, Mapping[str, int]]) -> Steps[None]:
        """Count what was served beside what the workers count; where this client may not, not at all."""
        named = {name: {f"served|{what}": n for what, n in amounts.items()} for name, amounts in served.items()}
        with suppress(StoreError):
            yield from event_stream.add(self._keys, named)

    def erased(
        self, resource: str, *, messages: int, observations: int, generations: int, rejected: int
    ) -> Steps[None]:
        """Say from how many of each a fact was removed; nothing of what it was."""
        yield from self.publish(
            Event(
                kind="erased", resource=resource, messages=messages, observations=observations,
                generations=generations, rejected=rejected,
            )
        )  # fmt: skip

    def refused(self, resource: str) -> Steps[None]:
        """Count a push that came too fast; where this client may not, not at all."""
        with suppress(StoreError):
            yield from event_stream.add(self._keys, {resource: {"refused": 1}})

    def ahead(self, resource: str, messages: int, ahead_ms: int) -> Steps[None]:
        """Count messages dated ahead of the server, and report that once an hour; where this client may not, not at all."""
        with suppress(StoreError):
            if event := (yield from event_stream.note_ahead(self._keys, resource, messages, ahead_ms)):
                yield from self.publish(event)

    def hook_failed(self, resource: str, failure: HookFailure) -> Steps[None]:
        """Count a hook's failure, and tell of it once an hour; where this client may not, not at all."""
        with suppress(StoreError):
            event = yield from hook_failures.note(self._keys, resource, failure)
            if event:
                yield from self.publish(event)

    def publish(self, event: Event) -> Steps[None]:
        """Say what this client did; how much of that is kept is for the workers to know."""
        if self._mute:
            return
        try:
            yield from event_stream.publish(self._keys, [event], None, self._clock.ms())
        except StoreError as error:
            self._mute = isinstance(error, NotPermittedError)

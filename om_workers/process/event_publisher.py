"""The one place where workers say what happened. Best effort: what cannot be told delays and fails nothing."""

import time
from collections.abc import Collection, Mapping, Sequence
from contextlib import suppress
from typing import Any, NamedTuple

from om_api.domain import events
from om_api.domain.errors import HookError, InvalidInputError, ModelError, StoreError, Why
from om_api.domain.events import Event, UnusableWhy
from om_api.domain.values import Chunk, Generation, Observation, Outcome, Scope
from om_api.domain.webhooks.hook import HookFailure
from om_api.settings import Settings
from om_api.store.driver.connection import Connection
from om_api.store.fleet import event_stream as stream
from om_api.store.fleet import hook_failures
from om_api.store.fleet.event_stream import Caps
from om_api.store.memory import due
from om_api.store.memory.adopt import Adopted
from om_api.store.memory.clear import Cleared
from om_api.store.memory.keys import Keys
from om_api.store.memory.push import ServerClock

_WHO = {"observe": "observer", "reflect": "reflector", "try": "observer"}  # whose dollars: a test call observes nothing


class ChunkSummary(NamedTuple):
    """What is told of a chunk: whose messages it holds, how many, and of how many tokens."""

    thread: str
    chunk: str
    messages: int
    message_tokens: int


class EventPublisher:
    """Publishes events and counts what they say, each after it happened; a StoreError is swallowed after one try."""

    def __init__(self, settings: Settings, connection: Connection, keys: Keys) -> None:
        self._settings = settings
        self._run = connection.run
        self._keys = keys
        self._clock: ServerClock | None = None

    def tell(self, *told: Event) -> None:
        """Publish events in one round trip; nothing for none."""
        if not told:
            return
        with suppress(StoreError):
            clock = self._clock or ServerClock()
            if self._clock is None:
                clock.seen(self._run(due.server_ms(once=True)))
                self._clock = clock
            clock.seen(self._run(stream.publish(self._keys, told, self._caps(), clock.ms())))

    def _caps(self) -> Caps:
        memory = self._settings.memory
        return Caps(memory.events.keep, memory.metrics.resources)

    def met(self, resources: Sequence[str], now: int) -> None:
        """Somebody writes under these names, at server ms `now`: whoever watches should see them before anything happens."""
        with suppress(StoreError):
            self._run(stream.meet(self._keys, resources, self._caps(), now))

    # -- chunks -------------------------------------------------------------------------------------------------------

    def sealed(self, scope: Scope, cut: Sequence[ChunkSummary]) -> None:
        """Chunks were cut out of what was raw."""
        self.tell(*(_of_chunk("sealed", scope, one) for one in cut))

    def observing(self, scope: Scope, *chunks: ChunkSummary) -> float:
        """A model is asked to observe chunks; the moment, from which it is reckoned how long that took."""
        began = time.monotonic()
        self.tell(*(_of_chunk("observing", scope, chunk) for chunk in chunks))
        return began

    def buffered(self, scope: Scope, chunk: ChunkSummary, made: Observation, began: float) -> None:
        """A chunk's observation was stored that was asked for when it `began`."""
        took = _since(began)
        self.tell(
            _of_chunk("buffered", scope, chunk, seconds=took, cost=made.cost, tokens=made.tokens, model=made.model)
        )

    def extracted(self, scope: Scope, chunk: ChunkSummary, found: Collection[str], refused: Collection[str]) -> None:
        """Extractors found something beside a chunk's observation, or were given what cannot be read."""
        kinds = {"extracted": found, "extraction_refused": refused}
        of: dict[str, Any] = {"resource": scope.resource, "thread": chunk.thread, "chunk": chunk.chunk}
        self.tell(*(Event(kind=kind, extractors=", ".join(slugs), **of) for kind, slugs in kinds.items() if slugs))

    def isolated(self, scope: Scope, chunk: ChunkSummary, did: Outcome) -> None:
        """A chunk could not be observed: it was split, or its one message quarantined."""
        kinds = {Outcome.SPLIT: "split", Outcome.REJECTED: "quarantined"}
        if did in kinds:
            self.tell(_of_chunk(kinds[did], scope, chunk))

    def adopted(self, resource: str, thread: str, adopted: Adopted | None) -> None:
        """Messages of a plain writer were quarantined, or dated ahead of the server's clock."""
        if adopted and adopted.ahead:
            with suppress(StoreError):
                event = self._run(stream.note_ahead(self._keys, resource, adopted.ahead, adopted.ahead_ms))
                self.tell(*filter(None, [event]))
        if adopted and adopted.rejected:
            self.tell(Event(kind="quarantined", resource=resource, thread=thread, messages=adopted.rejected))
            self.trimmed(resource, adopted.trimmed)

    def trimmed(self, resource: str, entries: int) -> None:
        """Entries left a quarantine because it was full. That is counted, and no event."""
        self._count(resource, "trimmed", entries)

    def marked(self, resource: str, lines: int) -> None:
        """So many lines of an observation were marked. That is counted, and no event; nothing is asked where there are none."""
        if lines:
            self._count(resource, "marked", lines)

    def activated(self, scope: Scope, chunks: Sequence[Chunk], chosen: Collection[str]) -> None:
        """Chunks became observations."""
        self.tell(events.activated(scope, chunks, chosen, "worker"))

    # -- reflections --------------------------------------------------------------------------------------------------

    def reflecting(self, scope: Scope, generation: int, observations: int, tokens: int) -> float:
        """A model is asked to condense observations, of so many tokens with the generation before; the moment."""
        began = time.monotonic()
        self.tell(
            Event(
                kind="reflecting", resource=scope.resource, thread=scope.thread, generation=generation,
                observations=observations, input_tokens=tokens,
            )
        )  # fmt: skip
        return began

    def drafted(self, scope: Scope, made: Generation, began: float | None) -> None:
        """A reflection was thought ahead of need."""
        self.tell(_of_reflection("drafted", scope, made, began))

    def review_asked(self, scope: Scope, made: Generation, review: str, began: float | None) -> None:
        """A reflection waits for its review; where it was drafted before, its time and cost were told then."""
        self.tell(_of_reflection("review_asked", scope, made, began, review=review))

    def reflected(self, scope: Scope, made: Generation, began: float | None, by: str | None = None) -> None:
        """A generation came into force; where it was thought before, its time and cost were told then."""
        self.tell(_of_reflection("reflected", scope, made, began, by=by))

    # -- the rest -----------------------------------------------------------------------------------------------------

    def cleared(self, resource: str, cleared: Cleared) -> None:
        """A memory was ended because nobody used it, unless somebody did meanwhile."""
        if cleared.outcome is Outcome.CLEARED:
            self.tell(events.cleared(Scope(resource), cleared.messages, cleared.observations))

    def failed(self, what: str, task: str, error: Exception) -> None:
        """A unit of work on a scope, or a messages key, ended with an error: of that its kind is told, never its text."""
        resource, thread = self._named(what)
        self.tell(Event(kind="failed", resource=resource, thread=thread, task=task, why=why(error)))

    def crashed(self, what: str, task: str, chunk: ChunkSummary | None = None, crashes: int | None = None) -> None:
        """A worker process froze and is ended: at work on `what` ("": on nothing), and on a `chunk` that crashed so often."""
        resource, thread = self._named(what) if what else ("", None)
        fields: dict[str, Any] = {"thread": thread, **(chunk._asdict() if chunk else {})}
        self.tell(Event(kind="crashed", resource=resource, task=task or None, crashes=crashes, **fields))

    def answer_unusable(
        self, scope: Scope, task: str, model: str, why: UnusableWhy, quote: str = "", loss: float | None = None
    ) -> None:
        """A model's answer was not used; `quote` is of the prompt or a set phrase, never of a message."""
        self.tell(
            Event(
                kind="answer_unusable", resource=scope.resource, thread=scope.thread, task=task, model=model,
                why=why, loss=loss, quote=quote or None,
            )
        )  # fmt: skip

    def _named(self, what: str) -> tuple[str, str | None]:
        if key := self._keys.parse_messages(what):
            return key.resource or "", key.thread
        try:
            return Scope.parse(what)
        except InvalidInputError:
            return "", None

    def billed(self, resource: str, purpose: str, micros: int | None) -> None:
        """A call was paid for, in millionths of a dollar. That is counted, and no event: what was made of it is."""
        self._count(resource, f"micros|{_WHO[purpose]}", micros or 0)

    def unknown(self, names: int) -> None:
        """So many names were marked due that nobody ever wrote a message under. Of nobody's memory: counted, and no event."""
        self._count("", "unknown", names)

    def webhooks(self, amounts: Mapping[str, int]) -> None:
        """So many deliveries to webhooks ended in each of these ways. Counted, and no event: it would have to be delivered."""
        with suppress(StoreError):
            self._run(stream.add(self._keys, {"": {f"webhook|{what}": n for what, n in amounts.items()}}))

    def archived(self, things: int) -> None:
        """So many things went to the archive. Counted, and no event: nothing became of a memory by it."""
        if things:
            self._count("", "archived", things)

    def _count(self, resource: str, what: str, amount: int) -> None:
        with suppress(StoreError):
            self._run(stream.add(self._keys, {resource: {what: amount}}))

    def budget_reached(self, resource: str, setting: str, then: str, day: str) -> None:
        """A day's budget (of all agents: resource "") is used up; told once, however many processes notice."""
        with suppress(StoreError):
            if self._run(stream.first_to_tell(self._keys, f"{day}:{setting}:{resource}")):
                self.tell(Event(kind="budget_reached", resource=resource, setting=setting, then=then))

    def hook_failed(self, resource: str, failure: HookFailure) -> bool:
        """A hook failed: counted each time, told once an hour; whether it was told now."""
        with suppress(StoreError):
            event = self._run(hook_failures.note(self._keys, resource, failure))
            self.tell(*filter(None, [event]))
            return event is not None
        return False


def why(error: Exception) -> Why:
    """What kind of failure an error is, by what it is and not by what it says."""
    if isinstance(error, HookError):
        return "hook"
    if isinstance(error, ModelError):
        return error.why
    return "store" if isinstance(error, StoreError) else "other"


def _of_chunk(kind: str, scope: Scope, chunk: ChunkSummary, **more: Any) -> Event:
    return Event(kind=kind, resource=scope.resource, **chunk._asdict(), **more)


def _of_reflection(kind: str, scope: Scope, made: Generation, began: float | None, **more: Any) -> Event:
    spent = {} if began is None else {"seconds": _since(began), "cost": made.cost}
    return events.of_reflection(kind, scope, made, **spent, **more)


def _since(began: float) -> float:
    return round(time.monotonic() - began, 3)

"""Lines by hand: adding one, correcting one, pinning one, and taking each of these back."""

from collections.abc import Callable
from contextlib import suppress
from typing import Any

from om_api.client.owning import Owner, writable
from om_api.client.reading import Scopes
from om_api.client.redacting import Redacting
from om_api.client.reporting import Reporter
from om_api.context.view import local_time
from om_api.domain.errors import InvalidInputError, NotFoundError, StoreError
from om_api.domain.events import Event
from om_api.domain.notes.activations import alone
from om_api.domain.notes.edits import item
from om_api.domain.notes.pins import Pin, pins_of
from om_api.domain.values import Observation, Outcome, Scope, check_id, new_id
from om_api.language.calendar import zone_of
from om_api.settings import MemorySettings, Settings, recorded_settings
from om_api.store.driver.steps import Steps
from om_api.store.lines import correcting, pinning
from om_api.store.lines.correcting import By, Corrector, Keeping, LineChange
from om_api.store.lines.pinning import Pinned
from om_api.store.memory import due, reading, scope_state
from om_api.store.memory.keys import Keys

_SHARE = 10  # of observation_threshold, at most, is pinned: the rest is what a Reflector can condense
_PRIORITIES = range(1, 6)


class LineKeeper:
    """What people write into a memory themselves; of each change it is told who made it, and never a word of it."""

    def __init__(
        self,
        settings: Settings,
        keys: Keys,
        scopes: Scopes,
        count: Callable[[str], int],
        reporter: Reporter,
        owner: Owner,
        redacting: Redacting,
    ) -> None:
        self._settings, self._keys, self._scopes = settings, keys, scopes
        self._count, self._reporter, self._owner, self._redacting = count, reporter, owner, redacting

    def add(self, text: str, resource: str, thread: str, priority: int, by: str) -> Steps[LineChange]:
        """Append an observation of one line, dated today by the agent's zone."""
        settings = self._writable(resource)
        thread = yield from self._scopes.named(resource, thread)
        scope = yield from self._scopes.of(resource, thread)
        if priority not in _PRIORITIES:
            raise InvalidInputError(f"priority {priority} is none: use 1 (small) to 5 (it matters for long)")
        line = item((yield from self._redacting.stored(resource, text)), priority)
        who = yield from self._by(by)
        day = local_time(who.at, zone_of(settings.timezone))
        noted = f"Date: {day:%b} {day.day}, {day.year}\n{line}"
        made = Observation(
            id=new_id(),
            thread_id=thread,
            text=noted,
            priority=priority,
            from_=who.at,
            to=who.at,
            tokens=self._count(noted),
            created_at=who.at,
            origin="added",
            by=by,
        )
        made = alone(made, self._count, pooled=scope.thread is None)
        done = yield from correcting.add(self._keys, scope, made)
        with suppress(StoreError):  # it is added; this has workers meet a resource of which there was nothing
            yield from due.mark(self._keys.due_observe, [scope])
        yield from self._tell("line_added", scope, thread, by, observation=made.id, tokens=made.tokens)
        return LineChange(outcome=done, observation_id=made.id, thread_id=thread, now=line)

    def correct(
        self, was: str, now: str, resource: str, thread: str | None, observation: str | None, by: str
    ) -> Steps[LineChange]:
        """See Corrector.correct."""
        thread = yield from self._scopes.named(resource, thread)
        corrector, scope = yield from self._corrector(resource, thread, by)
        if observation is not None:
            check_id(observation, "observation_id")
        was, now = yield from self._redacting.stored(resource, [was, now])  # who reads it put back names it so
        done = yield from corrector.correct(was, now, thread, observation)
        return (yield from self._told(scope, by, done))

    def undo(self, observation: str, resource: str, by: str) -> Steps[LineChange]:
        """Take back the newest correction of an observation; one that was added, and never corrected, goes."""
        check_id(observation, "observation_id")
        for scope in (yield from self._scopes.every(resource)):
            corrector, _ = yield from self._corrector(resource, scope.thread, by)
            if done := (yield from corrector.undo(observation)):
                return (yield from self._told(scope, by, done))
            stored = yield from reading.observations(self._keys, scope)
            own = next((each.observation for each in stored if each.observation.id == observation), None)
            if own and own.origin == "added":
                outcome = yield from self._owner.forget(observation, resource)
                return LineChange(outcome=outcome, observation_id=observation, thread_id=own.thread_id, was=own.text)
        raise NotFoundError(
            f"{resource} has nothing to take back in {observation}: no observation in force is called so, or nobody added or"
            " corrected it, or its corrections are no longer kept; a correction of a reflection is undone by om restore"
        )

    def pin(self, line: str, resource: str, thread: str | None, by: str) -> Steps[Pinned]:
        """Have a line stay, whatever is reflected."""
        settings, thread = self._writable(resource), (yield from self._scopes.named(resource, thread))
        scope = yield from self._scopes.one(resource, thread)
        most = recorded_settings.of(settings).limits.observation_threshold // _SHARE
        who, line = (yield from self._by(by)), (yield from self._redacting.stored(resource, line))
        done = yield from pinning.pin(self._keys, scope, line, thread, who, most, self._count)
        if done.outcome is Outcome.PINNED:
            yield from self._tell("pinned", scope, done.pin.thread or None, by, pin=done.pin.id)
        return done

    def unpin(self, line: str, resource: str, thread: str | None, by: str) -> Steps[Pinned]:
        """Let a pinned line go; it stays where it stands, until a reflection leaves it out."""
        self._writable(resource)
        yield from self._by(by)
        line = yield from self._redacting.stored(resource, line)
        thread = yield from self._scopes.named(resource, thread)
        for scope in (yield from self._scopes.holding(resource, thread)):
            if done := (yield from pinning.unpin(self._keys, scope, line, thread)):
                yield from self._tell("unpinned", scope, done.pin.thread or None, by, pin=done.pin.id)
                return done
        raise NotFoundError(f"nothing of {resource} that is pinned is {line[:200]!r}: om pins {resource} lists what is")

    def pins(self, resource: str, thread: str | None) -> Steps[list[Pin]]:
        """What is pinned, in the order in which it was: of every thread, or of one and what is common."""
        found = list[Pin]()
        thread = yield from self._scopes.named(resource, thread)
        for scope in (yield from self._scopes.holding(resource, thread)):
            record = (yield from scope_state.look(self._keys, scope)).record
            found += [pin for pin in pins_of(record.pins) if thread is None or pin.thread in {"", thread}]
        return found

    def _corrector(self, resource: str, thread: str | None, by: str) -> Steps[tuple[Corrector, Scope]]:
        settings, scope = self._writable(resource), (yield from self._scopes.one(resource, thread))
        keeping = Keeping(settings.kept_generations, recorded_settings.of(settings).retention_s)
        return Corrector(self._keys, scope, self._count, (yield from self._by(by)), keeping), scope

    def _told(self, scope: Scope, by: str, done: LineChange) -> Steps[LineChange]:
        if done.outcome is Outcome.CORRECTED:
            observation, generation = done.observation_id or None, done.generation or None
            where = {"observation": observation, "generation": generation}
            yield from self._tell("line_corrected", scope, done.thread_id or None, by, **where)
        return done

    def _by(self, by: str) -> Steps[By]:
        return By(check_id(by, "by") if by else "", (yield from due.server_ms()))

    def _writable(self, resource: str) -> MemorySettings:
        return writable(self._settings, resource, "changed by hand")

    def _tell(self, kind: str, scope: Scope, thread: str | None, by: str, **carried: Any) -> Steps[None]:
        of, whose = scope.thread or thread, by or None
        yield from self._reporter.publish(Event(kind=kind, resource=scope.resource, thread=of, by=whose, **carried))

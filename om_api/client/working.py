"""The working memory: reading it, changing its fields, bringing a former version back."""

from collections.abc import Callable, Mapping
from contextlib import suppress
from typing import Any, NamedTuple

from om_api.client.owning import writable
from om_api.client.reading import Scopes
from om_api.client.redacting import Redacting
from om_api.client.reporting import Reporter
from om_api.context.kept import KeptParts, proposed_in
from om_api.domain.errors import InvalidInputError, NotFoundError, StoreError
from om_api.domain.events import Event
from om_api.domain.kept import working_memory as fields
from om_api.domain.kept.extractors import Extracted
from om_api.domain.kept.working_memory import WorkingChange, WorkingForm, WorkingMemory, WorkingVersion
from om_api.domain.values import KeptFields, Outcome, Scope, Stamped, check_id
from om_api.settings import Settings
from om_api.store.driver.steps import Steps, batch
from om_api.store.memory import due, reading
from om_api.store.memory.keys import Keys
from om_api.store.working import working


class _WorkingRead(NamedTuple):
    """A working memory as it was read: whose it is, how it is kept, and what an Observer proposed that it says."""

    scope: Scope
    place: str
    held: KeptFields
    proposed: Stamped

    @property
    def values(self) -> dict[str, Any]:
        """What it says."""
        return fields.values_of(self.held.value, self.proposed)


_Change = Callable[[WorkingForm, _WorkingRead, int], Stamped]  # what is kept after it, and when (Unix ms) that is


class WorkingKeeper:
    """What Actors and people keep in fields; of each change it is told who made it, and never what it says."""

    def __init__(
        self,
        settings: Settings,
        keys: Keys,
        scopes: Scopes,
        count: Callable[[str], int],
        reporter: Reporter,
        redacting: Redacting,
    ) -> None:
        self._settings, self._keys, self._scopes, self._count, self._reporter = settings, keys, scopes, count, reporter
        self._redacting = redacting

    def form(self, resource: str) -> WorkingForm:
        """The fields of an agent. Raises InvalidInputError where its settings name none."""
        form = self._settings.for_agent(check_id(resource, "resource_id")).working_memory.form()
        if form is None:
            raise InvalidInputError(
                f"{resource} has no working memory: set working_memory.template, or working_memory.json_schema, in its settings"
            )
        return form

    def read(self, resource: str, thread: str | None) -> Steps[WorkingMemory]:
        """What it says now."""
        form = self.form(resource)
        return _told(form, (yield from self._read(form, resource, thread)))

    def update(
        self,
        given: Mapping[str, Any],
        resource: str,
        thread: str | None,
        version: int | None,
        by: str,
        *,
        replace: bool,
    ) -> Steps[WorkingChange]:
        """Change fields, as by a JSON Merge Patch; with `replace` all others are emptied.

        Time 0: two read version 4. Time 1: one writes a field. Time 2: the other's field is written into what the first one
        made of it. With `version`, or where everything is replaced, `superseded` if another version stands.
        """
        if not isinstance(given, Mapping):
            raise InvalidInputError("fields are an object: a name and a value each; null empties a field")
        given = yield from self._redacting.stored(resource, fields.json_of(given))

        def change(form: WorkingForm, read: _WorkingRead, at: int) -> Stamped:
            after = fields.changed(form, read.values, given, replace=replace)
            return fields.stamp(form, read.held.value, read.proposed, after, at)

        return (yield from self._change(change, resource, thread, version, by))

    def undo(self, resource: str, thread: str | None, by: str) -> Steps[WorkingChange]:
        """Make what it said before the last change the next version: nothing, before the first one.

        Raises NotFoundError where that is not kept.
        """
        form = self.form(resource)
        read = yield from self._read(form, resource, thread)
        former = yield from working.former(self._keys, resource, read.place)
        if former is None and read.held.version == 1:
            former = {}
        if former is None:
            raise NotFoundError(f"{resource} has no former version of its working memory")
        return (yield from self._change(lambda *_: former, resource, thread, read.held.version, by))

    def versions(self, resource: str, thread: str | None) -> Steps[list[WorkingVersion]]:
        """The former versions that are kept, oldest first."""
        form = self.form(resource)
        place = yield from self._named(form, resource, thread)
        return (yield from working.versions(self._keys, resource, place))

    def _change(
        self, change: _Change, resource: str, thread: str | None, version: int | None, by: str
    ) -> Steps[WorkingChange]:
        settings = writable(self._settings, resource, "kept").working_memory
        form, who = self.form(resource), check_id(by, "by") if by else ""
        schema = None if settings.json_schema is None else dict(settings.json_schema)
        for _ in range(working.TRIES):
            read = yield from self._read(form, resource, thread)
            if version is not None and read.held.version != version:
                return WorkingChange(outcome=Outcome.SUPERSEDED, working_memory=_told(form, read))
            stamped = change(form, read, (yield from due.server_ms()))
            after = _known(form, read._replace(held=KeptFields(value=stamped)))
            if after == _known(form, read):
                return WorkingChange(outcome=Outcome.REST, working_memory=_told(form, read))
            fields.check(form, after, schema, self._count(form.text(after)))
            done = yield from working.update(
                self._keys, read.scope, read.place, read.held, stamped, who, settings.versions
            )
            if done is Outcome.UPDATED:
                return (yield from self._updated(form, read, thread, who))
        raise StoreError(f"the working memory of {resource} changes faster than it can be read: repeat.", stored=False)

    def _updated(self, form: WorkingForm, was: _WorkingRead, thread: str | None, by: str) -> Steps[WorkingChange]:
        resource = was.scope.resource
        with suppress(StoreError):  # it is kept; this has workers meet a resource of which there was nothing
            yield from due.mark(self._keys.due_observe, [was.scope])
        yield from self._reporter.publish(
            Event(kind="working_memory_updated", resource=resource, thread=was.place or None, by=by or None)
        )
        return WorkingChange(
            outcome=Outcome.UPDATED, working_memory=_told(form, (yield from self._read(form, resource, thread)))
        )

    def _read(self, form: WorkingForm, resource: str, thread: str | None) -> Steps[_WorkingRead]:
        place = yield from self._named(form, resource, thread)
        scope = yield from self._scopes.of(resource, place or None)
        held, extracted = yield from self._beside(scope, resource, place)
        return _WorkingRead(scope, place, held, proposed_in(extracted, place))

    def _named(self, form: WorkingForm, resource: str, thread: str | None) -> Steps[str]:
        """Where it is kept: by the thread's own name, whatever alias it was asked for by."""
        place = _place(form, thread)
        return (yield from self._scopes.named(resource, place)) if place else ""

    def _beside(self, scope: Scope, resource: str, place: str) -> Steps[tuple[KeptFields, Extracted]]:
        held, generations, stored = yield from batch(
            working.read(self._keys, resource, place),
            reading.generations(self._keys, scope, newest=1),
            reading.observations(self._keys, scope),
        )
        in_force = generations[-1] if generations else None
        return held, KeptParts(scope, place, in_force, stored, {}, 0).extracted()


def _place(form: WorkingForm, thread: str | None) -> str:
    """Where it is kept. Raises InvalidInputError where each thread has its own and none is named."""
    if form.of == "resource":
        return ""
    if thread is None:
        raise InvalidInputError("each thread has a working memory of its own: name the thread_id")
    return check_id(thread, "thread_id")


def _known(form: WorkingForm, read: _WorkingRead) -> dict[str, Any]:
    values = read.values
    return {field: values[field] for field in form.fields if field in values}


def _told(form: WorkingForm, read: _WorkingRead) -> WorkingMemory:
    known = _known(form, read)
    return WorkingMemory(
        resource_id=read.scope.resource,
        thread_id=read.place or None,
        fields=known,
        text=form.text(known),
        version=read.held.version,
        at=read.held.at,
        by=read.held.by,
    )

"""What an Actor tells another memory by its own tool: a note there, once however often it is told."""

from collections.abc import Callable
from contextlib import suppress
from zoneinfo import ZoneInfo

from om_api.client.owning import writable
from om_api.client.redacting import Redacting
from om_api.client.reporting import Reporter
from om_api.context.share_tool import SharedNote
from om_api.context.view import local_time
from om_api.domain.errors import InvalidInputError, StoreError
from om_api.domain.events import Event
from om_api.domain.notes.activations import alone
from om_api.domain.values import Observation, Outcome, Scope, check_id
from om_api.language.calendar import zone_of
from om_api.settings import Settings
from om_api.store.driver.steps import Steps
from om_api.store.memory import due
from om_api.store.memory.keys import Keys
from om_api.store.sharing import copies


class NoteSharer:
    """Tells other memories what an Actor says that they should know."""

    def __init__(
        self,
        settings: Settings,
        keys: Keys,
        count: Callable[[str], int],
        reporter: Reporter,
        redacting: Redacting,
    ) -> None:
        self._settings, self._keys, self._count, self._reporter = settings, keys, count, reporter
        self._redacting = redacting

    def targets(self, resource: str, may_write: Callable[[str], bool] | None = None) -> list[str]:
        """The memories that a resource shares with: with their consent, and those that the caller `may_write`."""
        shared = self._settings.links(check_id(resource, "resource_id")).shared
        return [each.resource for each in shared if may_write is None or may_write(each.resource)]

    def share(self, resource: str, note: SharedNote) -> Steps[Outcome]:
        """Add a note: `added`, or `rest` where the same text stands there. Raises InvalidInputError where it is not taken."""
        zone = zone_of(writable(self._settings, check_id(note.target, "with"), "shared").timezone)
        note = note._replace(text=(yield from self._redacting.shared(resource, note.target, note.text)))
        made = self._made(resource, note, (yield from due.server_ms()), zone)
        done = yield from copies.share(self._keys, note.target, made)
        if done is Outcome.ADDED:
            with suppress(StoreError):  # it is added; this has workers meet a resource of which there was nothing
                yield from due.mark(self._keys.due_observe, [Scope(note.target)])
            told = Event(
                kind="line_added",
                resource=note.target,
                thread=resource,
                observation=made.id,
                tokens=made.tokens,
                by=resource,
            )
            yield from self._reporter.publish(told)
        elif done is not Outcome.REST:
            why = "it is paused" if done is Outcome.BUSY else "each of its threads has a memory of its own"
            raise InvalidInputError(f"{note.target} takes nothing now: {why}")
        return done

    def _made(self, resource: str, note: SharedNote, now: int, zone: ZoneInfo) -> Observation:
        text = copies.attributed(resource, [note.text], local_time(now, zone))
        made = Observation(
            id=copies.note_id(resource, note.target, note.text),
            thread_id=resource,
            text=text,
            priority=copies.PRIORITY,
            from_=now,
            to=now,
            tokens=self._count(text),
            created_at=now,
            activated_at=now,
            origin="added",
            by=resource,
        )
        return alone(made, self._count, pooled=True)

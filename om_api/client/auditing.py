"""The audit trail, as a client adds to it, reads it and follows it."""

from om_api.domain.audit.audit_entry import AuditEntry
from om_api.domain.audit.audit_query import AuditPage, AuditQuery
from om_api.domain.errors import InvalidInputError, StoreError
from om_api.domain.events import MOST, check_event_id
from om_api.domain.values import shown
from om_api.settings import Settings
from om_api.store.driver.steps import Steps, Wait
from om_api.store.fleet import audit_stream
from om_api.store.fleet.audit_stream import AuditLimits
from om_api.store.memory.keys import Keys

_FOLLOW_S = 1.0


def limits_of(settings: Settings) -> AuditLimits:
    """How much of the trail is kept."""
    return AuditLimits(settings.memory.audit.keep, settings.memory.audit.retention)


class Auditor:
    """The trail of one store. `patience_s` bounds one wait for the store, which keeps a connection busy."""

    def __init__(self, settings: Settings, keys: Keys, *, patience_s: float = 1.0) -> None:
        self._settings, self._keys, self._patience_s = settings, keys, min(_FOLLOW_S, patience_s)

    def add(self, entry: AuditEntry, most: int | None = None) -> Steps[str]:
        """Append an entry; see audit_stream.add."""
        return audit_stream.add(self._keys, entry, limits_of(self._settings), most)

    def page(self, before: str, query: AuditQuery, count: int) -> Steps[AuditPage]:
        """The newest wanted entries before an id; see audit_stream.older."""
        if not 1 <= count <= MOST:
            raise InvalidInputError(f"count is {shown(count)}: use 1 to {MOST}")
        return audit_stream.older(self._keys, before and check_event_id(before), query, count)

    def next_entries(self, after: str, query: AuditQuery) -> Steps[AuditPage]:
        """The next entries behind an id, if any come within a second, oldest first; none while the store is away."""
        try:
            yield from audit_stream.wait(self._keys, after, self._patience_s)
            return (yield from audit_stream.newer(self._keys, after, query))
        except StoreError:
            yield from Wait(_FOLLOW_S)
            return AuditPage([], "", after)

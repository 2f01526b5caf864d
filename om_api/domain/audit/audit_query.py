"""Which entries of the audit trail somebody wants, and a page of them."""

from collections.abc import Collection
from typing import NamedTuple

from om_api.domain.audit.audit_entry import DID, AuditEntry
from om_api.domain.errors import InvalidInputError
from om_api.domain.events import check_event_id
from om_api.domain.values import check_id


class AuditQuery(NamedTuple):
    """Which entries somebody wants; empty: whoever did what to whom, whenever. `who` is an id or a label, `since` Unix ms."""

    who: str = ""
    resources: Collection[str] = ()
    did: Collection[str] = ()
    since: int = 0

    @classmethod
    def of(cls, who: str, resources: str | Collection[str], did: str | Collection[str], since: int) -> "AuditQuery":
        """One name or several; raises InvalidInputError for a verb that there is not."""
        verbs = (did,) if isinstance(did, str) and did else tuple(did)
        names = (resources,) if isinstance(resources, str) and resources else tuple(resources)
        for verb in verbs:
            if verb not in DID:
                raise InvalidInputError(f"there is no verb {verb[:80]!r}: use any of {', '.join(DID)}")
        if since:
            check_event_id(str(since))
        return cls(who, tuple(check_id(name, "resource_id") for name in names), verbs, since)

    def takes(self, entry: AuditEntry) -> bool:
        """Whether an entry is one of them."""
        return (
            entry.at >= self.since
            and (not self.who or self.who in {entry.who, entry.label})
            and (not self.resources or entry.resource in self.resources)
            and (not self.did or entry.did in self.did)
        )


class AuditPage(NamedTuple):
    """Entries, the newest first; `before` is where to read on, "" where there is no older one that is wanted.

    `after` is behind all that there was when it was read, for whoever follows.
    """

    entries: list[AuditEntry]
    before: str
    after: str

"""What a page says of an entry of the audit trail, in words of the pages instead of the trail's own."""

from typing import NamedTuple

from om_api.domain.audit.audit_entry import DID, LOOPBACK, AuditEntry

_BY = {"page": "on a page", "http": "over HTTP", "mcp": "by MCP", "cli": "by om"}
_PAGES = {
    "agent": "Memory",
    "context": "What the model reads",
    "costs": "Money",
    "figures_of": "Figures",
    "group": "A group",
    "groups": "Groups",
    "message": "A message",
    "sources": "Where it came from",
    **{
        name.lower(): name
        for name in ("Agents", "Audit", "Events", "Figures", "Generations", "Live", "Manage", "Models")
    },
    **{name.lower(): name for name in ("Money", "Recall", "Rejected", "Review", "Reviews", "Settings", "Work")},
}
_OF = {"matching": "a text"}


class AuditWords(NamedTuple):
    """Who did what, by which door, and to what."""

    who: str
    by: str
    did: str
    of: str


def audit_words(entry: AuditEntry) -> AuditWords:
    """An entry in words; what is no name of ours stays as it is."""
    nobody = entry.who in {"", LOOPBACK}
    return AuditWords(
        entry.label or ("this machine, without a key" if nobody else entry.who),
        _BY.get(entry.via, entry.via),
        DID.get(entry.did, entry.did),
        _of(entry),
    )


def _of(entry: AuditEntry) -> str:
    if entry.via == "page" and entry.did in {"read", "refused"}:
        return _PAGES.get(entry.of.removeprefix("show_"), entry.of)
    return _OF.get(entry.of, entry.of)

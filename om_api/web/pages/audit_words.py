"""What a page says of an entry of the audit trail, in words of the pages instead of the trail's own."""

from typing import NamedTuple

from om_api.domain.audit.audit_entry import DID, LOOPBACK, AuditEntry

_BY = {"page": "on a page", "http": "over HTTP", "mcp": "by MCP", "cli": "by om"}
_PAGES = {"agent": "Memory", "context": "What the model reads", "costs": "Money", "figures_of": "Figures"} | {
    name: name.capitalize()
    for name in (
        *(
            "agents",
            "audit",
            "events",
            "figures",
            "generations",
            "live",
            "manage",
            "models",
            "money",
            "recall",
            "rejected",
        ),
        *("review", "reviews", "settings", "work"),
    )
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
    if entry.via == "page" and entry.did == "read":
        return _PAGES.get(entry.of, entry.of)
    return _OF.get(entry.of, entry.of)

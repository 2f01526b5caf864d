"""What a tool did, and what a caller was refused, told to the audit trail before it is answered."""

import structlog

from om_api.client.async_memory import AsyncObservationalMemory
from om_api.domain.audit.audit_entry import AuditEntry, Ending
from om_api.domain.errors import StoreError
from om_api.mcp.caller import Caller
from om_api.settings import Settings

NOT_TOLD = "The audit trail could not be told of it."
_log = structlog.get_logger("om_api.mcp")


async def audit(
    memory: AsyncObservationalMemory, caller: Caller, did: str, resource: str, of: str, outcome: Ending
) -> bool:
    """Tell that a caller did something, or was refused it; False, and an error in the log, where the store did not take it."""
    who, label = caller.who
    entry = AuditEntry(did=did, via="mcp", who=who, label=label, resource=resource, of=of, outcome=outcome)
    try:
        await memory.add_audit(entry)
    except StoreError as error:
        why = Settings.safe_url(str(error))
        _log.error("audit_entry_lost", did=did, key=who, resource=resource, of=of, outcome=outcome, error=why)
        return False
    return True

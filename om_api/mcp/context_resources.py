"""Contexts as resources, for a host that puts them before its model by itself: `om://harold/threads/t-1/context`."""

from urllib.parse import quote, unquote

from mcp_types import (
    ListResourcesResult,
    ListResourceTemplatesResult,
    ReadResourceResult,
    Resource,
    ResourceTemplate,
    TextResourceContents,
)

from om_api.client.async_memory import AsyncObservationalMemory
from om_api.domain.errors import InvalidInputError
from om_api.domain.naming.ids import any_name
from om_api.domain.values import check_id
from om_api.mcp.auditing import audit
from om_api.mcp.caller import RESOURCE, THREAD, Caller, CallerRefusedError
from om_api.mcp.conversation_tools import text_of
from om_api.patterns.pattern import Pattern

TEMPLATE = "om://{resource_id}/threads/{thread_id}/context"
_URI = Pattern(r"om://([^/]+)/threads/([^/]+)/context")
_TEXT = "text/plain"
_WHAT = "The whole memory for a conversation, as its model should read it: what is known, and what was said."
PAGE = 50  # threads


def templates() -> ListResourceTemplatesResult:
    """The one template."""
    one = ResourceTemplate(
        uri_template=TEMPLATE, name="context", title="The memory for a conversation", description=_WHAT, mime_type=_TEXT
    )
    return ListResourceTemplatesResult(resource_templates=[one])


async def resources(memory: AsyncObservationalMemory, caller: Caller, cursor: str) -> ListResourcesResult:
    """A page of the contexts of the caller's resource; empty if it named none.

    Raises CallerRefusedError for a resource that the key is not bound to.
    """
    if not caller.resource:
        return ListResourcesResult(resources=[])
    await _check(memory, caller, caller.resource)
    if caller.thread:
        return ListResourcesResult(resources=[_resource(caller.resource, caller.thread)])
    found = await memory.threads(caller.resource, after=cursor, limit=PAGE + 1)
    shown = [_resource(caller.resource, each.id) for each in found[:PAGE]]
    return ListResourcesResult(resources=shown, next_cursor=found[PAGE - 1].id if len(found) > PAGE else None)


def _resource(resource: str, thread: str) -> Resource:
    uri = f"om://{quote(resource, '')}/threads/{quote(thread, '')}/context"
    return Resource(uri=uri, name=f"{resource}: {thread}", description=_WHAT, mime_type=_TEXT)


async def read(memory: AsyncObservationalMemory, caller: Caller, uri: str) -> ReadResourceResult:
    """The context that an address names, whole; raises InvalidInputError for another address, and for whom it may not read."""
    found = _URI.fullmatch(uri)
    if found is None:
        raise InvalidInputError(f"{uri[:200]} is no address of a context: use {TEMPLATE}")
    resource, thread = check_id(any_name(unquote(found[1])), RESOURCE), check_id(any_name(unquote(found[2])), THREAD)
    await _check(memory, caller, resource)
    text = text_of(await memory.get_context(thread, resource, may_read=caller.may_read))
    return ReadResourceResult(contents=[TextResourceContents(uri=uri, mime_type=_TEXT, text=text)])


async def _check(memory: AsyncObservationalMemory, caller: Caller, resource: str) -> None:
    """Raise CallerRefusedError for a resource that the key is not bound to, and record the refusal in the audit trail."""
    try:
        caller.check(resource)
    except CallerRefusedError:
        await audit(memory, caller, "refused", resource, "context", "refused")
        raise

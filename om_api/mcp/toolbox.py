"""All tools: those that a caller may use are listed, and a call is answered in words, whatever becomes of it."""

from collections.abc import Callable, Mapping
from typing import Any

import structlog
from mcp_types import CallToolResult, ListToolsResult, TextContent

from om_api.domain.errors import InvalidInputError, OMError, RateLimitedError, StoreError
from om_api.mcp import conversation_tools, note_tools, recall_tools, status_tool, working_tool
from om_api.mcp.arguments import read_arguments
from om_api.mcp.auditing import NOT_TOLD, audit
from om_api.mcp.caller import RESOURCE, Caller, CallerRefusedError
from om_api.mcp.tool import MemoryTool, ToolServices
from om_api.settings import Settings

_log = structlog.get_logger("om_api.mcp")
_REFUSED = "refused"
Told = Callable[[Exception], str | None]
TOOLS: Mapping[str, MemoryTool] = {
    tool.name: tool
    for tool in (
        *conversation_tools.TOOLS,
        *recall_tools.TOOLS,
        *note_tools.TOOLS,
        *working_tool.TOOLS,
        *status_tool.TOOLS,
    )
}
_BECAME = {  # of a write that the store had to do with, as its errors tell
    True: "It is kept: do not repeat the call.",
    False: "Nothing was kept or changed by this call.",
    None: "Nobody knows whether it was kept: repeat the same call, and nothing is kept twice.",
}
_OURS = "this is the server's fault, and in its log: repeating the call with the same ids is safe"


def listed(caller: Caller) -> ListToolsResult:
    """The tools that a caller may use."""
    said = caller.said
    return ListToolsResult(tools=[tool.listed(said) for tool in TOOLS.values() if _may(caller, tool)])


async def answered(services: ToolServices, name: str, given: Mapping[str, Any], told: Told) -> CallToolResult:
    """What a call found, or why it could not be carried out and what to do. `told` says the latter of errors of its owner's."""
    try:
        return _result(await _called(services, name, given))
    except OMError as error:
        named = given.get(RESOURCE) or services.caller.resource  # as it was given: its check may be what failed
        if isinstance(error, CallerRefusedError) or (named and not services.caller.key.covers(named)):
            await audit(services.memory, services.caller, _REFUSED, str(named), name, "refused")
        return _result(in_words(error), failed=True)
    except Exception as error:  # noqa: BLE001  the boundary of a call
        return _result(unexpected(error, told), failed=True)


async def _called(services: ToolServices, name: str, given: Mapping[str, Any]) -> str:
    caller, tool = services.caller, TOOLS.get(name)
    if tool is None or not _may(caller, tool):
        permitted = ", ".join(name for name, each in TOOLS.items() if _may(caller, each))
        why = (
            f"{tool.name} needs the role {tool.role}, and this key is a {caller.key.role}'s"
            if tool
            else "there is no such tool"
        )
        refused = CallerRefusedError if tool else InvalidInputError
        raise refused(f"{why}; permitted are {permitted}")
    asked = read_arguments(tool.arguments, given, caller.said)
    if resource := getattr(asked, "resource_id", None):
        caller.check(resource)
    return await (_told(services, tool, asked) if tool.audited else tool.run(services, asked))


async def _told(services: ToolServices, tool: MemoryTool, asked: Any) -> str:
    """What a call of a tool that operates found, once the audit trail was told of it."""
    whose, of = asked.resource_id, asked.observation_id
    try:
        found = await tool.run(services, asked)
    except Exception as error:
        if not (isinstance(error, StoreError) and error.stored is False):
            await audit(services.memory, services.caller, tool.audited, whose, of, "failed")
        raise
    told = await audit(services.memory, services.caller, tool.audited, whose, of, "done")
    return found if told else f"{found} {NOT_TOLD}"


def _may(caller: Caller, tool: MemoryTool) -> bool:
    return caller.key.role.includes(tool.role)


def in_words(error: OMError) -> str:
    """What a model is told of an error: what is wrong, what became of a write, what to do."""
    if isinstance(error, StoreError):
        if isinstance(error, RateLimitedError):
            return f"{error} {_BECAME[error.stored]}"
        _log.error("mcp_store_failed", error=Settings.safe_url(str(error)))  # it names hosts: not for a model
        return f"The memory could not be reached just now. {_BECAME[error.stored]}"
    return Settings.safe_url(str(error)) if isinstance(error, InvalidInputError) else _OURS


def unexpected(error: Exception, told: Told) -> str:
    """The same of an error that is none of ours: the log has it, and no text of it leaves this process."""
    text = told(error)
    if text is None:
        _log.error("mcp_request_failed", exc_info=error)
    return text or _OURS


def _result(text: str, *, failed: bool = False) -> CallToolResult:
    """A text as a result; half a character (a lone surrogate), of which a host could make no UTF-8, is shown as one."""
    whole = text.encode("utf-8", "replace").decode()
    return CallToolResult(content=[TextContent(type="text", text=whole)], is_error=failed)

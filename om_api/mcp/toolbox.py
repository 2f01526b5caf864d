"""All tools: those that a caller may use are listed, and a call is answered in words, whatever becomes of it."""

from collections.abc import Callable, Mapping
from typing import Any

import structlog
from mcp_types import CallToolResult, ListToolsResult, TextContent

from om_api.domain.errors import InvalidInputError, OMError, StoreError
from om_api.mcp import conversation_tools, note_tools, recall_tools, status_tool
from om_api.mcp.arguments import read_arguments
from om_api.mcp.caller import Caller
from om_api.mcp.tool import MemoryTool, ToolServices
from om_api.settings import Settings

_log = structlog.get_logger("om_api.mcp")
Told = Callable[[Exception], str | None]
TOOLS: Mapping[str, MemoryTool] = {
    tool.name: tool for tool in (*conversation_tools.TOOLS, *recall_tools.TOOLS, *note_tools.TOOLS, *status_tool.TOOLS)
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
        raise InvalidInputError(f"{why}; permitted are {permitted}")
    asked = read_arguments(tool.arguments, given, caller.said)
    if resource := getattr(asked, "resource_id", None):
        caller.check(resource)
    return await tool.run(services, asked)


def _may(caller: Caller, tool: MemoryTool) -> bool:
    return caller.key.role.includes(tool.role)


def in_words(error: OMError) -> str:
    """What a model is told of an error: what is wrong, what became of a write, what to do."""
    if isinstance(error, StoreError):
        return f"{Settings.safe_url(str(error))} {_BECAME[error.stored]}"
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

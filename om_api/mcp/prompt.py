"""The prompt that tells a model how to use its memory; the same text is what a server says of itself."""

from collections.abc import Mapping
from importlib.resources import files

from mcp import MCPError
from mcp_types import (
    INVALID_PARAMS,
    GetPromptResult,
    ListPromptsResult,
    Prompt,
    PromptArgument,
    PromptMessage,
    TextContent,
)

from om_api.domain.naming.ids import any_name
from om_api.domain.values import check_id
from om_api.mcp.caller import RESOURCE, THREAD, Caller

NAME = "use_memory"
GUIDANCE = files("om_api.mcp").joinpath("use_memory.md").read_text("utf-8")
_WHAT = "How to use the memory: when to read, look up, add and forget."
_ARGUMENTS = {RESOURCE: "whose memory it is", THREAD: "the conversation that begins or goes on"}


def prompts(caller: Caller) -> ListPromptsResult:
    """The one prompt, with the arguments that the caller has not said already."""
    asked = [
        PromptArgument(name=name, description=what, required=False)
        for name, what in _ARGUMENTS.items()
        if name not in caller.said
    ]
    return ListPromptsResult(prompts=[Prompt(name=NAME, title="Use the memory", description=_WHAT, arguments=asked)])


def prompt(caller: Caller, name: str, given: Mapping[str, str]) -> GetPromptResult:
    """The prompt for one memory and one conversation, as far as they are known; raises MCPError for another prompt."""
    if name != NAME:
        raise MCPError(INVALID_PARAMS, f"there is no prompt {name[:40]}: {NAME} is the one")
    if unknown := given.keys() - _ARGUMENTS.keys():
        raise MCPError(
            INVALID_PARAMS, f"{min(unknown)[:40]} is no argument here: permitted are {', '.join(_ARGUMENTS)}"
        )
    told = {argument: check_id(any_name(value), argument) for argument, value in given.items() if value} | caller.said
    text = guidance(told)
    return GetPromptResult(
        description=_WHAT, messages=[PromptMessage(role="user", content=TextContent(type="text", text=text))]
    )


def guidance(said: Mapping[str, str]) -> str:
    """The text, with what is known of whose memory and which conversation it is about."""
    lines = [f"Use {name} {value!r}: {_ARGUMENTS[name]}." for name, value in said.items()]
    return "\n".join([GUIDANCE, *lines])

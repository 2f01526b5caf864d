"""The server of the protocol: what hosts ask for, answered from a memory for whoever asks."""

from collections.abc import Awaitable, Callable
from typing import Any, TypeVar

from mcp import MCPError
from mcp.server import Server, ServerRequestContext
from mcp_types import (
    INTERNAL_ERROR,
    INVALID_PARAMS,
    CallToolRequestParams,
    CallToolResult,
    GetPromptRequestParams,
    GetPromptResult,
    ListPromptsResult,
    ListResourcesResult,
    ListResourceTemplatesResult,
    ListToolsResult,
    PaginatedRequestParams,
    ReadResourceRequestParams,
    ReadResourceResult,
)

from om_api.client.async_memory import AsyncObservationalMemory
from om_api.domain import tokens
from om_api.domain.errors import InvalidInputError, OMError
from om_api.domain.extras import installed
from om_api.mcp import context_resources, prompt, toolbox
from om_api.mcp.caller import Caller
from om_api.mcp.tool import ToolServices
from om_api.mcp.toolbox import Told

T = TypeVar("T")
Asking = ServerRequestContext[Any, Any]
NAME = "cortex-om"


def make_server(
    memory: AsyncObservationalMemory, caller: Callable[[Asking], Caller], *, about: str, told: Told = lambda _: None
) -> Server[Any]:
    """A server that answers each request for its `caller`; `about` is what it says of itself to a model."""
    handlers = _Handlers(memory, caller, told)
    return Server(
        NAME,
        title="Observational memory",
        version=installed(),
        instructions=about,
        get_tool_input_schema=lambda _: None,  # no argument of ours travels in a header
        on_list_tools=handlers.list_tools,
        on_call_tool=handlers.call_tool,
        on_list_resources=handlers.list_resources,
        on_list_resource_templates=handlers.list_templates,
        on_read_resource=handlers.read_resource,
        on_list_prompts=handlers.list_prompts,
        on_get_prompt=handlers.get_prompt,
    )


class _Handlers:
    def __init__(self, memory: AsyncObservationalMemory, caller: Callable[[Asking], Caller], told: Told) -> None:
        self._memory, self._caller, self._told = memory, caller, told
        self._count = tokens.counter(memory.settings.memory.tokenizer)

    async def list_tools(self, asking: Asking, _: PaginatedRequestParams | None) -> ListToolsResult:
        return toolbox.listed(self._caller(asking))

    async def call_tool(self, asking: Asking, params: CallToolRequestParams) -> CallToolResult:
        services = ToolServices(self._memory, self._caller(asking), self._count)
        return await toolbox.answered(services, params.name, params.arguments or {}, self._told)

    async def list_resources(self, asking: Asking, params: PaginatedRequestParams | None) -> ListResourcesResult:
        cursor = (params and params.cursor) or ""
        return await self._in_words(context_resources.resources(self._memory, self._caller(asking), cursor))

    async def list_templates(self, asking: Asking, _: PaginatedRequestParams | None) -> ListResourceTemplatesResult:
        del asking  # it is the same for everybody
        return context_resources.templates()

    async def read_resource(self, asking: Asking, params: ReadResourceRequestParams) -> ReadResourceResult:
        return await self._in_words(context_resources.read(self._memory, self._caller(asking), str(params.uri)))

    async def list_prompts(self, asking: Asking, _: PaginatedRequestParams | None) -> ListPromptsResult:
        return prompt.prompts(self._caller(asking))

    async def get_prompt(self, asking: Asking, params: GetPromptRequestParams) -> GetPromptResult:
        try:
            return prompt.prompt(self._caller(asking), params.name, params.arguments or {})
        except InvalidInputError as error:
            raise MCPError(INVALID_PARAMS, str(error)) from None

    async def _in_words(self, answer: Awaitable[T]) -> T:
        """An answer; what failed of it is an error of the protocol's that says what to do."""
        try:
            return await answer
        except MCPError:
            raise
        except OMError as error:
            code = INVALID_PARAMS if isinstance(error, InvalidInputError) else INTERNAL_ERROR
            raise MCPError(code, toolbox.in_words(error)) from None
        except Exception as error:  # noqa: BLE001  the boundary of a request
            raise MCPError(INTERNAL_ERROR, toolbox.unexpected(error, self._told)) from None

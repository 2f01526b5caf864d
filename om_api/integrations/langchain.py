"""LangChain and LangGraph: a middleware by which an agent's model reads its memory at each call.

`create_agent(model, tools, middleware=[MemoryMiddleware()])`, then `agent.invoke(…, {"configurable": {"thread_id": "t-1",
"resource_id": "harold"}})`.
"""

from collections.abc import Awaitable, Callable, Sequence
from typing import Any

from om_api.client.memory import ObservationalMemory
from om_api.context import Context
from om_api.integrations.framework_memory import FrameworkMemory, recall_spec
from om_api.integrations.importing import importing
from om_api.integrations.turn import AgentTurn, HeldItems, ModelView, kept_as, place_of, said_in

with importing("langchain", "langchain"):
    from langchain.agents.middleware import AgentMiddleware, ModelRequest
    from langchain_core.messages import (
        AIMessage,
        BaseMessage,
        HumanMessage,
        SystemMessage,
        ToolMessage,
        convert_to_messages,
    )
    from langchain_core.runnables import RunnableConfig
    from langchain_core.tools import StructuredTool
    from langgraph.config import get_config
    from langgraph.runtime import Runtime

_CALLS = {"tool_use", "tool_call", "function_call"}  # parts of a content that a message's `tool_calls` say, too
_RESOURCE = (
    'name it in config["configurable"]["resource_id"], in the run\'s context, or as MemoryMiddleware(resource_id=…)'
)
_THREAD = 'name it in config["configurable"]["thread_id"], as a checkpointer needs it'


class MemoryMiddleware(AgentMiddleware):
    """Has each model call read the memory instead of the whole history, and keeps what is said, message by message.

    The thread is the run's `thread_id`; the resource its `resource_id`, in the config or the run's context, else the one named
    here. `recall=False` offers no tool. Raises InvalidInputError where either is missing, StoreError while the store is away
    unless `memory` was made with `fail_open`.
    """

    def __init__(
        self, memory: ObservationalMemory | None = None, *, resource_id: str | None = None, recall: bool = True
    ) -> None:
        super().__init__()
        self._memory = FrameworkMemory(memory)
        self._resource = resource_id
        self.tools = [self._recall_tool()] if recall else []

    def wrap_model_call(self, request: ModelRequest, handler: Callable[[ModelRequest], Any]) -> Any:
        """Have the model read the memory."""
        return handler(_with(request, self._memory.view(self._turn(request.messages, request.runtime), _render)))

    async def awrap_model_call(self, request: ModelRequest, handler: Callable[[ModelRequest], Awaitable[Any]]) -> Any:
        """The same in asyncio."""
        view = await self._memory.aview(self._turn(request.messages, request.runtime), _render)
        return await handler(_with(request, view))

    def after_model(self, state: Any, runtime: Runtime) -> None:
        """Keep what the model said, once it is the run's own."""
        self._memory.record(self._turn(state["messages"], runtime))

    async def aafter_model(self, state: Any, runtime: Runtime) -> None:
        """The same in asyncio."""
        await self._memory.arecord(self._turn(state["messages"], runtime))

    def _turn(self, messages: Sequence[BaseMessage], runtime: Runtime | None) -> AgentTurn:
        return AgentTurn(*self._place(get_config(), runtime), [*map(_held, messages)])

    def _place(self, config: RunnableConfig, runtime: Runtime | None = None) -> tuple[str, str]:
        named, context = config.get("configurable", {}), getattr(runtime, "context", None)
        resource = named.get("resource_id") or said_in(context, "resource_id") or self._resource
        return place_of(resource, named.get("thread_id"), resource_from=_RESOURCE, thread_from=_THREAD)

    def _recall_tool(self) -> StructuredTool:
        name, description, schema = recall_spec()

        def recall(config: RunnableConfig, **asked: Any) -> str:
            return self._memory.recall(asked, *self._place(config, _runtime(config)))

        async def arecall(config: RunnableConfig, **asked: Any) -> str:
            return await self._memory.arecall(asked, *self._place(config, _runtime(config)))

        return StructuredTool(name=name, description=description, args_schema=schema, func=recall, coroutine=arecall)


def _with(request: ModelRequest, view: ModelView) -> ModelRequest:
    if not view.system:
        return request.override(messages=view.items)
    own = request.system_message
    if own is None or isinstance(own.content, str):
        system = SystemMessage(view.behind(own.content if own else None))
    else:  # parts, such as one with a breakpoint of the prompt cache, stay as they are
        system = own.model_copy(update={"content": [*own.content, {"type": "text", "text": view.system}]})
    return request.override(messages=view.items, system_message=system)


def _held(message: BaseMessage) -> HeldItems:
    """A message of a run's state; what a summarizing middleware put there is shown, and nobody's words."""
    if isinstance(message, SystemMessage) or message.additional_kwargs.get("lc_source"):
        return HeldItems((message,))
    return HeldItems((message,), (kept_as(_given(message), message.id),))


def _given(message: BaseMessage) -> dict[str, Any]:
    content: Any = message.content
    if isinstance(message, ToolMessage):
        failed = {"is_error": True} if message.status == "error" else {}
        result = {"tool_call_id": message.tool_call_id, "name": message.name, "result": content, **failed}
        return {"role": "tool", "content": [{"type": "tool-result", **result}]}
    name = {"name": message.name} if message.name else {}
    if not isinstance(message, AIMessage):
        return {"role": "user", "content": content, **name}
    if isinstance(content, list):
        content = [each for each in content if not (isinstance(each, dict) and each.get("type") in _CALLS)]
    calls = [
        {"function": {"name": each["name"], "arguments": each["args"]}, "id": each["id"]} for each in message.tool_calls
    ]
    return {"role": "assistant", "content": content, "tool_calls": calls, **name}


def _render(context: Context) -> list[Any]:
    return [
        HumanMessage(each.content, name=each.name) if each.type == "user" else each
        for each in convert_to_messages(context.as_openai())
    ]


def _runtime(config: RunnableConfig) -> Any:
    return config.get("configurable", {}).get("__pregel_runtime")

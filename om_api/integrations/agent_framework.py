"""Microsoft Agent Framework: a history provider by which an agent's model reads its memory at each call.

`Agent(client, context_providers=[MemoryProvider(resource_id="harold")])`, then `await agent.run("Hello",
session=AgentSession(session_id="t-1"))`.
"""

from collections.abc import Awaitable, Callable, Collection, Sequence
from functools import partial
from typing import Any

from om_api.client.memory import ObservationalMemory
from om_api.domain.errors import InvalidInputError
from om_api.integrations.agent_framework_messages import held_of, named, rendered
from om_api.integrations.framework_memory import FrameworkMemory, recall_spec
from om_api.integrations.importing import importing
from om_api.integrations.turn import AgentTurn, place_of

with importing("agent-framework-core", "agent-framework"):
    from agent_framework import (
        ChatContext,
        ChatMiddleware,
        ChatMiddlewareLayer,
        ChatResponse,
        FunctionTool,
        HistoryProvider,
        Message,
        ResponseStream,
    )

_RESOURCE = 'name it in session.state["resource_id"], or as MemoryProvider(resource_id=…)'
_THREAD = "it is the session's session_id"
_SERVICE = (
    "the model's service keeps this conversation ({}): leave that to the memory, without `store` and `conversation_id`"
)
_CLIENT = "the agent's client calls no chat middleware, which the memory is: derive it from ChatMiddlewareLayer, too"
_EACH_CALL = "the memory is kept at each call anyway: leave require_per_service_call_history_persistence off"


class MemoryProvider(HistoryProvider):
    """Has each model call of a run read the memory instead of the whole history, and keeps what is said, message by message.

    The thread is the session's id; the resource `resource_id` in the session's state, else the one named here, or what the
    function named here makes of the session. `recall=False` offers no tool. Of several history providers each adds what it
    has; what the memory holds is shown once. Raises InvalidInputError where the resource is missing or the model's service keeps
    the conversation itself, StoreError while the store is away unless `memory` was made with `fail_open`.
    """

    def __init__(
        self,
        memory: ObservationalMemory | None = None,
        *,
        resource_id: str | Callable[[Any], str] | None = None,
        recall: bool = True,
        source_id: str = "observational_memory",
    ) -> None:
        super().__init__(source_id)
        self._memory = FrameworkMemory(memory)
        self._resource = resource_id
        self._recall = recall

    async def before_run(self, *, agent: Any, session: Any, context: Any, state: Any) -> None:  # noqa: ARG002
        """Be there at each model call of the run, with recall among its tools."""
        if getattr(agent, "require_per_service_call_history_persistence", False):
            raise InvalidInputError(_EACH_CALL)
        if not isinstance(getattr(agent, "client", None), ChatMiddlewareLayer):
            raise InvalidInputError(_CLIENT)
        own = self._resource(session) if callable(self._resource) else self._resource
        resource = session.state.get("resource_id") or own
        place = place_of(resource, session.session_id, resource_from=_RESOURCE, thread_from=_THREAD)
        context.input_messages = named(context.input_messages)
        others = {each.source_id for each in agent.context_providers if not isinstance(each, HistoryProvider)}
        context.extend_middleware(self.source_id, _MemoryMiddleware(self._memory, place, others))
        if self._recall:
            context.extend_tools(self.source_id, [self._recall_tool(place)])

    async def after_run(self, **_: Any) -> None:
        """Nothing: all of the run is kept by now."""

    async def get_messages(self, session_id: str | None, **_: Any) -> list[Message]:  # noqa: ARG002
        """Nothing: what the memory holds is shown at each model call, not once a run."""
        return []

    async def save_messages(self, session_id: str | None, messages: Sequence[Message], **_: Any) -> None:
        """Nothing: messages are kept as they are said."""

    def _recall_tool(self, place: tuple[str, str]) -> FunctionTool:
        name, description, schema = recall_spec()

        async def recall(**asked: Any) -> str:
            return await self._memory.arecall(asked, *place)

        return FunctionTool(
            name=name, description=description, func=recall, input_model=schema, approval_mode="never_require"
        )


class _MemoryMiddleware(ChatMiddleware):
    """Stands before each model call of one run."""

    def __init__(self, memory: FrameworkMemory, place: tuple[str, str], foreign: Collection[str]) -> None:
        self._memory, self._place, self._foreign = memory, place, foreign

    async def process(self, context: ChatContext, call_next: Callable[[], Awaitable[None]]) -> None:
        """Have the model read the memory, and keep what it says."""
        said, options = [*context.messages], dict(context.options or {})
        if getattr(context.client, "STORES_BY_DEFAULT", False):
            options.setdefault("store", False)
        if kept := options.get("conversation_id") or options.get("store"):
            raise InvalidInputError(_SERVICE.format(kept))
        view = await self._memory.aview(self._turn(said), rendered)
        if view.system:
            options["instructions"] = view.behind(options.get("instructions"))
        context.messages, context.options = view.items, options
        await call_next()
        if isinstance(context.result, ResponseStream):
            context.result = context.result.with_result_hook(partial(self._keep, said))
        elif context.result is not None:
            await self._keep(said, context.result)

    async def _keep(self, said: list[Message], response: ChatResponse) -> ChatResponse:
        await self._memory.arecord(self._turn([*said, *response.messages]))
        return response

    def _turn(self, messages: Sequence[Message]) -> AgentTurn:
        return AgentTurn(*self._place, held_of(messages, self._foreign))

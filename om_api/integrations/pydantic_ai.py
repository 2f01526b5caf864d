"""Pydantic AI: a capability by which an agent's model reads its memory at each call.

`Agent(model, capabilities=[MemoryCapability()])`, then `agent.run_sync("Hello", conversation_id="t-1", metadata={"resource_id":
"harold"})`.
"""

from collections.abc import Callable, Sequence
from dataclasses import replace
from itertools import takewhile
from typing import Any

from om_api.client.memory import ObservationalMemory
from om_api.integrations.framework_memory import FrameworkMemory, recall_spec
from om_api.integrations.importing import importing
from om_api.integrations.pydantic_ai_messages import held, rendered
from om_api.integrations.turn import AgentTurn, place_of, said_in

with importing("pydantic-ai-slim", "pydantic-ai"):
    from pydantic_ai import FunctionToolset, Tool
    from pydantic_ai.capabilities import AbstractCapability, CapabilityOrdering
    from pydantic_ai.exceptions import RetryModelRequest  # noqa: F401  came with `prepare_model_request`
    from pydantic_ai.messages import InstructionPart, ModelMessage, ModelResponse

_RESOURCE = (
    'name it in run(…, metadata={"resource_id": …}), as resource_id in its deps, or as MemoryCapability(resource_id=…)'
)
_THREAD = "name it in run(…, conversation_id=…)"


class MemoryCapability(AbstractCapability[Any]):
    """Has each model request read the memory instead of the whole history, and keeps what is said, message by message.

    The thread is the run's `conversation_id`, which is a new one for each run that names none and has no `message_history`. The
    resource is `resource_id` in the run's metadata, else in its deps, else the one named here, or what the function named here
    makes of the run's context. `recall=False` offers no tool. What it adds is in no message of the run's result.
    Raises InvalidInputError where the resource is missing, StoreError while the store is away unless `memory` was made with
    `fail_open`.
    """

    def __init__(
        self,
        memory: ObservationalMemory | None = None,
        *,
        resource_id: str | Callable[[Any], str] | None = None,
        recall: bool = True,
    ) -> None:
        self._memory = FrameworkMemory(memory)
        self._resource = resource_id
        self._recall = recall

    def get_ordering(self) -> CapabilityOrdering:
        """Outermost: what others make of an answer is what is kept."""
        return CapabilityOrdering(position="outermost")

    def get_toolset(self) -> FunctionToolset[Any] | None:
        """Recall, for the model to call."""
        if not self._recall:
            return None
        name, description, schema = recall_spec()

        async def recall(ctx: Any, **asked: Any) -> str:
            return await self._memory.arecall(asked, *self._place(ctx))

        tool = Tool.from_schema(recall, name, description, schema, takes_ctx=True)
        return FunctionToolset([tool], id="observational-memory")

    async def prepare_model_request(self, ctx: Any, request_context: Any) -> Any:
        """Have the model read the memory, of which nothing stays in the history or its instructions."""
        sent, asked = request_context.messages, request_context.model_request_parameters
        view = await self._memory.aview(self._turn(ctx, sent), rendered)
        items = view.items
        if sent and isinstance(sent[-1], ModelResponse):  # suspended: it goes on where it ended
            items = [*takewhile(lambda each: each is not sent[-1], items), sent[-1]]
        if view.system:
            parts = [*(asked.instruction_parts or ()), InstructionPart(view.system, dynamic=True)]
            asked = replace(asked, instruction_parts=parts)
        return replace(request_context, messages=items, model_request_parameters=asked)

    async def after_model_request(self, ctx: Any, *, request_context: Any, response: Any) -> Any:  # noqa: ARG002
        """Keep what the model said, whatever becomes of the run."""
        await self._memory.arecord(self._turn(ctx, [*ctx.messages, replace(response, run_id=ctx.run_id)]))
        return response

    async def after_run(self, ctx: Any, *, result: Any) -> Any:
        """Keep what no further request brings, such as the result of an output tool."""
        await self._memory.arecord(self._turn(ctx, result.all_messages()))
        return result

    def _turn(self, ctx: Any, messages: Sequence[ModelMessage]) -> AgentTurn:
        return AgentTurn(*self._place(ctx), [each for message in messages for each in held(message)])

    def _place(self, ctx: Any) -> tuple[str, str]:
        own = self._resource(ctx) if callable(self._resource) else self._resource
        resource = (ctx.metadata or {}).get("resource_id") or said_in(ctx.deps, "resource_id") or own
        return place_of(resource, ctx.conversation_id, resource_from=_RESOURCE, thread_from=_THREAD)

"""Agno: a model that reads an agent's memory at each of its calls.

`Agent(model=with_memory(OpenAIChat("gpt-5-mini")))`, then `agent.run("Hello", session_id="t-1", user_id="harold")`.
"""

import asyncio
from collections.abc import AsyncIterator, Callable, Iterator, Sequence
from typing import Any, NamedTuple

from om_api.client.memory import ObservationalMemory
from om_api.domain.errors import InvalidInputError
from om_api.integrations.agno_messages import held, rendered, with_notes
from om_api.integrations.framework_memory import FrameworkMemory, recall_spec
from om_api.integrations.importing import importing
from om_api.integrations.turn import AgentTurn, place_of

with importing("agno", "agno"):
    from agno.models.base import Model
    from agno.models.message import Message
    from agno.tools.function import Function

_RESOURCE = "name it in run(…, user_id=…), as user_id of the agent, or as with_memory(model, resource_id=…)"
_THREAD = "name it in run(…, session_id=…)"


def with_memory(
    model: Model,
    memory: ObservationalMemory | None = None,
    *,
    resource_id: str | Callable[[Any], str] | None = None,
    recall: bool = True,
) -> Model:
    """A model like this one, which reads the memory instead of the whole history, and keeps what is said, message by message.

    The thread is the run's `session_id`; the resource its `user_id`, else the one named here, or what the function named here
    makes of the run (a RunOutput). `recall=False` offers no tool. Calls that are not of a run, such as for a session's
    summary, are those of the model itself. A run raises InvalidInputError where either is missing, StoreError while the store
    is away unless `memory` was made with `fail_open`.
    """
    if not isinstance(model, Model):
        raise InvalidInputError(f"model is {type(model).__name__}: hand over a model of Agno, such as OpenAIChat(…)")
    kind: Any = type(type(model).__name__, (_Remembering, type(model)), {})
    made = kind.__new__(kind)
    made.__dict__.update(model.__dict__)
    if hasattr(made, "use_previous_response_id"):  # OpenAI's Responses API would read on from what it keeps itself
        made.use_previous_response_id = False
    made.om_memory = _RunMemory(FrameworkMemory(memory), resource_id, recall)
    return made


class _RunMemory(NamedTuple):
    """The memory of whoever runs."""

    memory: FrameworkMemory
    resource: str | Callable[[Any], str] | None
    recall: bool

    def __deepcopy__(self, _: Any) -> "_RunMemory":
        """Itself: copies of a model, as of an agent that is copied, share it."""
        return self

    def read(self, messages: Sequence[Message], run: Any) -> list[Message]:
        """What the model reads of a run's messages."""
        return with_notes(self.memory.view(self.turn(messages, run), rendered))

    def place(self, run: Any) -> tuple[str, str]:
        """Whose the run is, and in which thread."""
        own = self.resource(run) if callable(self.resource) else self.resource
        return place_of(run.user_id or own, run.session_id, resource_from=_RESOURCE, thread_from=_THREAD)

    def turn(self, messages: Sequence[Message], run: Any) -> AgentTurn:
        """A run's messages."""
        return AgentTurn(*self.place(run), [*map(held, messages)])

    def tools(self, tools: Sequence[Any] | None, run: Any) -> list[Any]:
        """The run's tools, and recall."""
        if not self.recall:
            return [*(tools or ())]
        name, description, schema = recall_spec()
        place = self.place(run)

        def recall(**asked: Any) -> str:
            return self.memory.recall(asked, *place)

        own = Function(name=name, description=description, parameters=schema, entrypoint=recall)
        own.skip_entrypoint_processing = True
        return [*(tools or ()), own]


class _Remembering:
    """What stands before a model: a run is offered recall, and each of its calls reads the memory."""

    om_memory: _RunMemory

    def response(self, messages: list[Message], **given: Any) -> Any:
        """Answer, and keep it."""
        answer = super().response(messages=messages, **self._offering(given))  # type: ignore[misc]
        self._keep(messages, given)
        return answer

    async def aresponse(self, messages: list[Message], **given: Any) -> Any:
        """The same in asyncio."""
        answer = await super().aresponse(messages=messages, **self._offering(given))  # type: ignore[misc]
        await asyncio.to_thread(self._keep, messages, given)
        return answer

    def response_stream(self, messages: list[Message], **given: Any) -> Iterator[Any]:
        """The same, bit by bit."""
        yield from super().response_stream(messages=messages, **self._offering(given))  # type: ignore[misc]
        self._keep(messages, given)

    async def aresponse_stream(self, messages: list[Message], **given: Any) -> AsyncIterator[Any]:
        """The same in asyncio."""
        async for each in super().aresponse_stream(messages=messages, **self._offering(given)):  # type: ignore[misc]
            yield each
        await asyncio.to_thread(self._keep, messages, given)

    def invoke(self, messages: list[Message], **given: Any) -> Any:
        """Call the model, which reads the memory."""
        return super().invoke(messages=self._read(messages, given), **given)  # type: ignore[misc]

    async def ainvoke(self, messages: list[Message], **given: Any) -> Any:
        """The same in asyncio."""
        read = await asyncio.to_thread(self._read, messages, given)
        return await super().ainvoke(messages=read, **given)  # type: ignore[misc]

    def invoke_stream(self, messages: list[Message], **given: Any) -> Iterator[Any]:
        """The same, bit by bit."""
        yield from super().invoke_stream(messages=self._read(messages, given), **given)  # type: ignore[misc]

    async def ainvoke_stream(self, messages: list[Message], **given: Any) -> AsyncIterator[Any]:
        """The same in asyncio."""
        read = await asyncio.to_thread(self._read, messages, given)
        async for each in super().ainvoke_stream(messages=read, **given):  # type: ignore[misc]
            yield each

    def _offering(self, given: dict[str, Any]) -> dict[str, Any]:
        run = given.get("run_response")
        return given if run is None else {**given, "tools": self.om_memory.tools(given.get("tools"), run)}

    def _read(self, messages: list[Message], given: dict[str, Any]) -> list[Message]:
        run = given.get("run_response")
        return messages if run is None else self.om_memory.read(messages, run)

    def _keep(self, messages: list[Message], given: dict[str, Any]) -> None:
        run = given.get("run_response")
        if run is not None:
            self.om_memory.memory.record(self.om_memory.turn(messages, run))

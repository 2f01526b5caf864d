"""OpenAI Agents SDK: one object that is a run's session, and the filter by which each model call reads the memory.

`memory = MemorySession("t-1", resource_id="harold")`, `Agent(tools=[*memory.tools])`, and then
`Runner.run(agent, "Hi", session=memory, run_config=RunConfig(call_model_input_filter=memory))`.
"""

from asyncio import to_thread
from collections.abc import Sequence
from contextvars import ContextVar
from dataclasses import dataclass
from typing import Any
from uuid import uuid4
from weakref import WeakKeyDictionary

from om_api.client.memory import ObservationalMemory
from om_api.context import Context
from om_api.domain.caching import LRU
from om_api.integrations.framework_memory import FrameworkMemory, recall_spec
from om_api.integrations.importing import importing
from om_api.integrations.matching import beside
from om_api.integrations.openai_agents_items import Item, items_of, key_of, units, without
from om_api.integrations.turn import AgentTurn, HeldItems, place_of, said_in

with importing("openai-agents", "openai-agents"):
    from agents import Agent, FunctionTool, ModelResponse, RunContextWrapper, RunHooks, SessionSettings
    from agents.handoffs import get_conversation_history_wrappers as told
    from agents.run import CallModelData, ModelInputData
    from agents.tool_context import ToolContext

_REMEMBERED, _MOST_BYTES = 1_000, 32 * 2**20  # conversations; the items of others are made again
_RESOURCE = "name it as MemorySession(resource_id=…), or in the run's context: Runner.run(…, context=…)"
_THREAD = "name it as MemorySession(session_id), or as thread_id in the run's context: Runner.run(…, context=…)"


@dataclass
class _SessionRun:
    """What a run was sent, or a session's has added, a message each. `early` was kept before the run adds it; None: it begins."""

    owner: "MemorySession"
    place: tuple[str, str]
    held: list[HeldItems]
    in_session: bool = False
    early: Sequence[Item] | None = None


_RUNS: ContextVar[_SessionRun | None] = ContextVar("_RUNS", default=None)  # of the task that a run is


class MemorySession(RunHooks[Any]):
    """A session that lasts, and as `call_model_input_filter` of the run's config what has each model call read the memory.

    Thread and resource are the ones named here, else `thread_id` and `resource_id` of the run's context, so that one object
    serves all conversations. Beside another session, or without one, it is filter and hooks: `Runner.run(…, hooks=memory)`.
    `recall=False` offers no tool. Raises InvalidInputError where either is missing, StoreError while the store is away unless
    `memory` was made with `fail_open`.
    """

    session_settings: SessionSettings | None = None

    def __init__(
        self,
        session_id: str | None = None,
        memory: ObservationalMemory | None = None,
        *,
        resource_id: str | None = None,
        recall: bool = True,
    ) -> None:
        self.session_id = session_id or ""
        self._resource, self._memory = resource_id, FrameworkMemory(memory)
        self._runs: WeakKeyDictionary[RunContextWrapper[Any], _SessionRun] = WeakKeyDictionary()
        self._had: LRU[tuple[str, str], list[HeldItems]] = LRU(_REMEMBERED, _MOST_BYTES)
        self.tools = [FunctionTool(*recall_spec(), self._recall, strict_json_schema=False)] if recall else []

    async def __call__(self, data: CallModelData[Any]) -> ModelInputData:
        """Have the model read the memory: notes behind its instructions, and in its input nothing that is behind notes."""
        place, sent, talk = self._place(data.context), data.model_data, _RUNS.get()
        if talk is None or not talk.in_session or (talk.owner, talk.place) != (self, place):
            _RUNS.set(talk := _SessionRun(self, place, units(sent.input, told())))
        held = await self._beside(talk, sent.input) if talk.in_session else talk.held
        view = await self._memory.aview(AgentTurn(*place, held), Context.as_openai_responses)
        return ModelInputData(input=view.items, instructions=view.behind(sent.instructions) or None)

    async def on_llm_end(self, _run: RunContextWrapper[Any], _agent: Agent[Any], response: ModelResponse) -> None:
        """Keep what the model said, where no session does: `Runner.run(…, hooks=…)`."""
        if (talk := _RUNS.get()) and talk.owner is self and not talk.in_session:
            await self._memory.arecord(AgentTurn(*talk.place, [*talk.held, *units(response.to_input_items(), told())]))

    async def get_items(self, limit: int | None = None, *, wrapper: RunContextWrapper[Any] | None = None) -> list[Item]:
        """The conversation's newest items: what a model would read as it was said, without the notes on what came before."""
        items = [item for held in (await self._talk(wrapper)).held for item in held.items]
        return items if limit is None else items[max(0, len(items) - limit) :]

    async def add_items(self, items: list[Item], *, wrapper: RunContextWrapper[Any] | None = None) -> None:
        """Keep what was said."""
        talk = await self._talk(wrapper)
        await self._keep(talk, without(items, talk.early or ()))
        talk.early = ()

    async def pop_item(self, *, wrapper: RunContextWrapper[Any] | None = None) -> Item | None:
        """Take back what was said last: it is erased from the memory, and what was noted of it is noted again without it."""
        talk = await self._talk(wrapper)
        if not talk.held:
            return None
        (resource, thread), last = talk.place, talk.held.pop()
        for message in last.messages:
            await to_thread(
                self._memory.ask, self._memory.memory.erase, resource, message_id=message.id, thread_id=thread
            )
        talk.held += [HeldItems(rest)] if (rest := last.items[:-1]) else []
        return last.items[-1]

    async def clear_session(self, *, wrapper: RunContextWrapper[Any] | None = None) -> None:
        """Remove the thread from the memory, and what was noted of it."""
        resource, thread = self._place(wrapper and wrapper.context)
        await to_thread(self._memory.ask, self._memory.memory.clear, resource, thread)
        self._had.pop((resource, thread))

    async def _talk(self, wrapper: RunContextWrapper[Any] | None) -> _SessionRun:
        """What a run holds; a run that begins, and whoever asks outside of one, has it from the store, with the items it had."""
        if wrapper is None or (talk := self._runs.get(wrapper)) is None:
            place = self._place(wrapper and wrapper.context)
            had = {held.messages[0].id: held for held in self._had.get(place, ()) if held.messages}
            raw = await self._memory.araw(*place)
            held = [had.get(each.id) or HeldItems(items_of(each), (each,)) for each in raw]
            talk = _SessionRun(self, place, held, in_session=True)
        if wrapper is not None:
            self._runs[wrapper] = talk
            self._had.put(talk.place, talk.held, len(str(talk.held)))
            _RUNS.set(talk)
        return talk

    async def _keep(self, talk: _SessionRun, items: Sequence[Item]) -> None:
        new = units(items, told(), lambda: f"om-{uuid4().hex}")
        await self._memory.arecord(AgentTurn(*talk.place, [*talk.held, *new]))
        talk.held += new

    async def _beside(self, talk: _SessionRun, given: Sequence[Item]) -> list[HeldItems]:
        """A model's input, each item with the message it is kept as; what a handoff puts in is said already, and not kept.

        A streamed run adds its input only behind its first call: what that call ends with is kept here.
        """
        held, rest = beside(talk.held, given, key_of)
        if talk.early is None and rest:
            talk.early = rest
            await self._keep(talk, rest)
            held, _ = beside(talk.held, given, key_of)
        return held

    def _place(self, context: Any) -> tuple[str, str]:
        resource = self._resource or said_in(context, "resource_id")
        thread = self.session_id or said_in(context, "thread_id")
        return place_of(resource, thread, resource_from=_RESOURCE, thread_from=_THREAD)

    async def _recall(self, run: ToolContext[Any], asked: str) -> str:
        return await self._memory.arecall(asked, *self._place(run.context))

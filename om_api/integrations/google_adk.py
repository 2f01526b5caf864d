"""Google ADK: a plugin by which each model call of a runner's agents reads the memory, and a memory service that recalls.

`App(name="app", root_agent=agent, plugins=[MemoryPlugin()])`, or the same of a Runner: a user's memory is that of the `user_id`,
a thread is a session.
"""

from asyncio import to_thread
from collections.abc import Sequence
from datetime import UTC, datetime
from typing import Any

from om_api.client.memory import ObservationalMemory
from om_api.context.recall_tool import NAME as RECALL
from om_api.domain.caching import LRU
from om_api.integrations.framework_memory import FrameworkMemory, recall_spec
from om_api.integrations.google_adk_contents import is_said, key_of, rendered, rendered_with_ids, told_of
from om_api.integrations.importing import importing
from om_api.integrations.matching import beside
from om_api.integrations.turn import AgentTurn, HeldItems, kept_as, named_id, place_of
from om_api.recall.recalled import RecalledHit

with importing("google-adk", "google-adk"):
    from google.adk.agents.callback_context import CallbackContext
    from google.adk.agents.invocation_context import InvocationContext
    from google.adk.events import Event
    from google.adk.memory.base_memory_service import BaseMemoryService, SearchMemoryResponse
    from google.adk.memory.memory_entry import MemoryEntry
    from google.adk.models import Gemini, LlmRequest
    from google.adk.plugins.base_plugin import BasePlugin
    from google.adk.sessions import Session
    from google.adk.tools import BaseTool, ToolContext
    from google.genai.types import Content, FunctionDeclaration, Part

_REMEMBERED = 20_000  # events, as the messages they are kept as
_MOST_BYTES = 32 * 2**20
_RESOURCE = "name it as user_id of the session, or as MemoryPlugin(resource_id=…)"
_THREAD = "name it as the session's id"


class MemoryPlugin(BasePlugin):
    """Has each model call read the memory instead of the whole session, and keeps what is said, event by event.

    The thread is the session, the resource its `user_id`, unless one is named here. `recall=False` offers no tool. Raises
    InvalidInputError for what is no id, StoreError while the store is away unless `memory` was made with `fail_open`.
    """

    def __init__(
        self, memory: ObservationalMemory | None = None, *, resource_id: str | None = None, recall: bool = True
    ) -> None:
        super().__init__(name="observational_memory")
        self._memory, self._resource = _Events(memory), resource_id
        self._tools = [_Recall(self._memory, resource_id)] if recall else []

    async def before_model_callback(self, *, callback_context: CallbackContext, llm_request: LlmRequest) -> None:
        """Have the model read the memory: notes behind its instructions, and in its contents nothing that is behind notes."""
        run = callback_context.get_invocation_context()
        if run.live_request_queue:
            return  # what a plugin is shown there is not what is sent
        session, agent = callback_context.session, callback_context.agent_name
        turn = self._memory.turn(session, session.events, self._resource)
        told = told_of(llm_request.contents, session.events, agent)
        held, _ = beside(turn.held, llm_request.contents, lambda content: told.get(id(content)) or key_of(content))
        render = rendered if isinstance(run.agent.canonical_model, Gemini) else rendered_with_ids
        view = await self._memory.aview(turn._replace(held=held), render)
        llm_request.contents = view.items
        if view.system:
            llm_request.append_instructions([view.system])
        llm_request.append_tools([tool for tool in self._tools if tool.name not in llm_request.tools_dict])

    async def on_event_callback(self, *, invocation_context: InvocationContext, event: Event) -> None:
        """Keep what was said, before the session does."""
        session = invocation_context.session
        if not event.partial:
            await self._memory.arecord(self._memory.turn(session, [*session.events, event], self._resource))


class ObservationalMemoryService(BaseMemoryService):
    """The memory as `load_memory` and `preload_memory` ask it: what was said in all sessions of a user, found by its words."""

    def __init__(self, memory: ObservationalMemory | None = None) -> None:
        self._memory = _Events(memory)

    async def add_session_to_memory(self, session: Session) -> None:
        """Keep what is not kept yet of a session; a runner with MemoryPlugin does so by itself."""
        await self._memory.arecord(self._memory.turn(session, session.events))

    async def search_memory(self, *, app_name: str, user_id: str, query: str) -> SearchMemoryResponse:  # noqa: ARG002
        """What was said before, the best hit first; of every app's sessions of that user."""
        found = await to_thread(self._memory.ask, self._memory.memory.recall, query, named_id(user_id, "user_id"))
        return SearchMemoryResponse(memories=[*map(_entry, found.hits)])


class _Events(FrameworkMemory):
    """A memory of sessions: their events are kept by their ids, those that say something."""

    recalls = (RECALL, "load_memory")
    is_whole = True

    def __init__(self, memory: ObservationalMemory | None) -> None:
        super().__init__(memory)
        self._held: LRU[str, HeldItems] = LRU(_REMEMBERED, _MOST_BYTES)

    def turn(self, session: Session, events: Sequence[Event], resource: str | None = None) -> AgentTurn:
        """Whose session it is, and what was said in it."""
        return AgentTurn(*self.place(session, resource), [self._of(event) for event in events if is_said(event)])

    def place(self, session: Session, resource: str | None) -> tuple[str, str]:
        """The resource and the thread of a session; `resource` is named by the application instead of its user."""
        return place_of(resource or session.user_id, session.id, resource_from=_RESOURCE, thread_from=_THREAD)

    def _of(self, event: Event) -> HeldItems:
        held = self._held.get(event.id)
        if held is None:
            given = event.content.model_dump(mode="json", exclude_none=True)
            role = given.get("role") or ("user" if event.author == "user" else "model")
            held = HeldItems((event.content,), (kept_as({**given, "role": role}, event.id),))
            self._held.put(event.id, held, len(str(given)))
        return held


class _Recall(BaseTool):
    """Recall as a tool of the model."""

    def __init__(self, memory: _Events, resource: str | None) -> None:
        name, description, self._schema = recall_spec()
        super().__init__(name=name, description=description)
        self._memory, self._resource = memory, resource

    def _get_declaration(self) -> FunctionDeclaration:
        return FunctionDeclaration(name=self.name, description=self.description, parameters_json_schema=self._schema)

    async def run_async(self, *, args: dict[str, Any], tool_context: ToolContext) -> dict[str, Any]:
        place = self._memory.place(tool_context.session, self._resource)
        return {"result": await self._memory.arecall(args, *place)}


def _entry(hit: RecalledHit) -> MemoryEntry:
    said = Content(role="model" if hit.role == "assistant" else "user", parts=[Part(text=hit.text)])
    at = datetime.fromtimestamp(hit.at / 1000, UTC).isoformat(timespec="seconds")
    return MemoryEntry(content=said, author=hit.role, timestamp=at, id=hit.id)

"""Agents of Microsoft Agent Framework, one with a history in its session and one without, as their user would write them."""

import asyncio
from collections.abc import AsyncIterator, Mapping, Sequence
from typing import Any

import agent_framework as af
from agent_framework import Agent, AgentSession, ChatResponse, ChatResponseUpdate, Content, Message
from drivers.protocol import INSTRUCTIONS, Said, Script, look_up, memory, message, serve, tell

from om_api.integrations.agent_framework import MemoryProvider


class Fake(af.FunctionInvocationLayer[Any], af.ChatMiddlewareLayer[Any], af.BaseChatClient[Any]):
    """Replies by the script of the turn."""

    def _inner_get_response(
        self, *, messages: Sequence[Message], stream: bool, options: Mapping[str, Any], **_: Any
    ) -> Any:
        asked = messages, options
        return self._build_response_stream(self._updates(*asked)) if stream else self._whole(*asked)

    async def _whole(self, *asked: Any) -> ChatResponse:
        return ChatResponse(messages=[Message("assistant", self._contents(*asked))])

    async def _updates(self, *asked: Any) -> AsyncIterator[ChatResponseUpdate]:
        for each in self._contents(*asked):
            half = len(each.text) // 2 if each.type == "text" else 0
            parts = [*map(Content.from_text, (each.text[:half], each.text[half:]))] if half else [each]
            for part in parts:
                yield ChatResponseUpdate(role="assistant", contents=[part])

    def _contents(self, messages: Sequence[Message], options: Mapping[str, Any]) -> list[Content]:
        tools = [each.name for each in options.get("tools") or ()]
        reply = Script.newest.reply(options.get("instructions") or "", [*map(normal, messages)], tools)
        said = [Content.from_text(reply["text"])] if reply["text"] else []
        asked = reply["calls"]
        return [*said, *(Content.from_function_call(c["id"], c["name"], arguments=c["args"]) for c in asked)]


def normal(each: Message) -> dict[str, Any]:
    """A message as the suite compares it."""
    asked = [c for c in each.contents if c.type == "function_call"]
    answers = [c for c in each.contents if c.type == "function_result"]
    calls = [{"id": c.call_id, "name": c.name, "args": c.parse_arguments()} for c in asked]
    text = " ".join([each.text, *(str(c.result) for c in answers)])
    return message(each.role, text, calls, tuple(c.call_id for c in answers))


CLIENT, MEMORY = Fake(), memory()
PROVIDERS: dict[str, list[Any]] = {"main": [af.InMemoryHistoryProvider()], "other": []}
AGENTS = {
    name: Agent(
        CLIENT, told, name=name, tools=[look_up, tell], context_providers=[*PROVIDERS[name], MemoryProvider(MEMORY)]
    )
    for name, told in INSTRUCTIONS.items()
}
SESSIONS: dict[str, AgentSession] = {}


def take_turn(said: Said) -> str:
    """Have the agent take a turn, in a loop of its own as of a web server's next process."""
    return asyncio.run(run(AGENTS[said.agent], said))


async def run(agent: Agent[Any], said: Said) -> str:
    """A run in the session of the thread."""
    session = SESSIONS.setdefault(said.thread, AgentSession(session_id=said.thread)) if said.thread else AgentSession()
    session.state["resource_id"] = said.resource
    asked = [Message(each["role"], [each["content"]]) for each in said.again or ()]
    asked.append(Message("user", [said.say]))
    if said.mode == "stream":
        stream = agent.run(asked, session=session, stream=True)
        _ = [update async for update in stream]
        return (await stream.get_final_response()).messages[-1].text
    return (await agent.run(asked, session=session)).messages[-1].text


serve(take_turn)

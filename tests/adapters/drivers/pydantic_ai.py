"""Agents of Pydantic AI which are given the history of their conversation, as their user would write it."""

import asyncio
import json
import re
from collections.abc import AsyncIterator
from typing import Any

from drivers.protocol import INSTRUCTIONS, Said, Script, look_up, memory, message, serve, tell
from pydantic_ai import Agent
from pydantic_ai.messages import ModelMessage, ModelRequest, ModelResponse, TextPart, ToolCallPart, UserPromptPart
from pydantic_ai.models.function import AgentInfo, DeltaToolCall, FunctionModel

from om_api.integrations.pydantic_ai import MemoryCapability

HISTORIES: dict[str, list[ModelMessage]] = {}


def reply(messages: list[ModelMessage], info: AgentInfo) -> ModelResponse:
    """Reply by the script of the turn."""
    said = told(messages, info)
    text = [TextPart(said["text"])] if said["text"] else []
    return ModelResponse([*text, *(ToolCallPart(each["name"], each["args"], each["id"]) for each in said["calls"])])


async def stream(messages: list[ModelMessage], info: AgentInfo) -> AsyncIterator[Any]:
    """The same, word by word."""
    said = told(messages, info)
    for word in re.findall(r"\S*\s*", said["text"]):
        yield word
    for n, each in enumerate(said["calls"]):
        yield {n + 1: DeltaToolCall(each["name"], json.dumps(each["args"]), tool_call_id=each["id"])}


def told(messages: list[ModelMessage], info: AgentInfo) -> dict[str, Any]:
    """The script's reply to what was sent."""
    parts = [part for each in messages if isinstance(each, ModelRequest) for part in each.parts]
    prompts = [part.content for part in parts if part.part_kind == "system-prompt"]
    system = "\n\n".join([*prompts, *([info.instructions] if info.instructions else ())])
    sent = [normal for each in messages for normal in normals(each)]
    return Script.newest.reply(system, sent, [each.name for each in info.function_tools])


def normals(each: ModelMessage) -> list[dict[str, Any]]:
    """Messages as the suite compares them: a request has several, when it was merged."""
    if isinstance(each, ModelResponse):
        calls = [{"id": c.tool_call_id, "name": c.tool_name, "args": c.args_as_dict()} for c in each.tool_calls]
        return [message("assistant", each.text or "", calls)]
    made = []
    for part in each.parts:
        if part.part_kind == "user-prompt":
            made.append(message("user", str(part.content)))
        elif part.part_kind == "tool-return":
            made.append(message("tool", part.model_response_str(), answers=(part.tool_call_id,)))
    return made


MODEL, MEMORY = FunctionModel(reply, stream_function=stream), memory()
AGENTS = {
    name: Agent(MODEL, instructions=instructions, tools=[look_up, tell], capabilities=[MemoryCapability(MEMORY)])
    for name, instructions in INSTRUCTIONS.items()
}


def take_turn(said: Said) -> str:
    """Have the agent take a turn; one that fails leaves the history as it was."""
    agent, place = AGENTS[said.agent], str(said.thread)
    history = HISTORIES.get(place, []) if said.again is None else [*map(again, said.again)]
    owner = {"resource_id": said.resource} if said.resource else None
    asked = {"message_history": history, "conversation_id": said.thread, "metadata": owner}
    if said.mode == "stream":
        answer, HISTORIES[place] = asyncio.run(streamed(agent, said.say, asked))
        return answer
    result = agent.run_sync(said.say, **asked) if said.mode == "sync" else asyncio.run(agent.run(said.say, **asked))
    HISTORIES[place] = result.all_messages()
    return str(result.output)


async def streamed(agent: Agent, text: str, asked: dict[str, Any]) -> tuple[str, list[ModelMessage]]:
    """The last of what is streamed, and the history."""
    async with agent.run_stream(text, **asked) as result:
        output = [each async for each in result.stream_output()][-1]
        return str(output), result.all_messages()


def again(said: dict[str, str]) -> ModelMessage:
    """A message that the caller holds, as nobody made it in this process."""
    if said["role"] == "assistant":
        return ModelResponse([TextPart(said["content"])])
    return ModelRequest([UserPromptPart(said["content"])])


serve(take_turn)

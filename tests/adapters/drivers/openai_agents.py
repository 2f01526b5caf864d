"""An agent of the OpenAI Agents SDK whose session is the memory, as its user would write it."""

import asyncio
import json
from collections.abc import AsyncIterator
from itertools import count, pairwise
from typing import Any
from uuid import uuid4

from agents import Agent, Model, ModelResponse, RunConfig, Runner, Usage, function_tool, set_tracing_disabled
from agents.models.fake_id import FAKE_RESPONSES_ID
from drivers.protocol import INSTRUCTIONS, Said, Script, look_up, memory, message, serve, tell
from openai.types.responses import (
    Response,
    ResponseCompletedEvent,
    ResponseFunctionToolCall,
    ResponseOutputMessage,
    ResponseOutputText,
    ResponseReasoningItem,
)

from om_api.integrations.openai_agents import MemorySession

_numbers = count()


class Fake(Model):
    """Replies by the script of the turn: thinking before each call as a model of OpenAI's does, or without ids as others do."""

    script: Script
    thinks = True

    async def get_response(self, *given: Any, **named: Any) -> Any:
        """Asked by name, or in order where it streams."""
        asked = dict(zip(("system_instructions", "input", "model_settings", "tools"), given, strict=False)) | named
        return self._reply(asked["system_instructions"], asked["input"], asked["tools"])

    def _reply(self, system: str | None, given: list[Any], tools: list[Any]) -> ModelResponse:
        check_thoughts(given)
        reply = self.script.reply(system or "", normal(given), [each.name for each in tools])
        said = [_said(reply["text"], self._id("msg"))] if reply["text"] or not reply["calls"] else []
        calls = [_call(each, self._id("fc")) for each in reply["calls"]]
        thoughts = (
            [ResponseReasoningItem(id=self._id("rs"), summary=[], type="reasoning")] if self.thinks and calls else []
        )
        return ModelResponse(output=[*thoughts, *said, *calls], usage=Usage(), response_id=None)

    async def stream_response(self, *given: Any, **named: Any) -> AsyncIterator[Any]:
        made = await self.get_response(*given, **named)
        whole = {"id": "r", "created_at": 0.0, "model": "fake", "object": "response", "output": made.output}
        asked = {"tools": [], "tool_choice": "auto", "parallel_tool_calls": True}
        yield ResponseCompletedEvent(response=Response(**whole, **asked), type="response.completed", sequence_number=0)

    def _id(self, kind: str) -> str:
        return f"{kind}_{uuid4().hex}" if self.thinks else FAKE_RESPONSES_ID


def _said(text: str, name: str) -> ResponseOutputMessage:
    content = [ResponseOutputText(text=text, annotations=[], type="output_text")]
    return ResponseOutputMessage(id=name, content=content, role="assistant", status="completed", type="message")


def _call(call: dict[str, Any], name: str) -> ResponseFunctionToolCall:
    arguments = json.dumps(call["args"])
    return ResponseFunctionToolCall(
        id=name, call_id=call["id"], name=call["name"], arguments=arguments, type="function_call"
    )


def check_thoughts(given: list[Any]) -> None:
    """Refuse what OpenAI refuses: thoughts without what they led to, and a call by its id without its thoughts."""
    kinds = [item.get("type") or "message" for item in given]
    for thought, then in pairwise([*kinds, "nothing"]):
        if thought == "reasoning" and then not in {"message", "function_call"}:
            raise ValueError("an item of reasoning stands without what follows it")
    thoughtful = False
    for item, kind in zip(given, kinds, strict=True):
        thoughtful = kind == "reasoning" or (thoughtful and kind in {"message", "function_call"})
        if kind == "function_call" and str(item.get("id")).startswith("fc_") and not thoughtful:
            raise ValueError("a call stands without its item of reasoning")


def normal(given: list[Any]) -> list[dict[str, Any]]:
    """Items as the suite compares them: what an assistant says and calls in one go is one message."""
    made: list[dict[str, Any]] = []
    for item in given:
        kind = item.get("type") or "message"
        if kind == "function_call":
            if not made or made[-1]["role"] != "assistant":
                made.append(message("assistant"))
            made[-1]["calls"].append(
                {"id": item["call_id"], "name": item["name"], "args": json.loads(item["arguments"])}
            )
        elif kind == "function_call_output":
            made.append(message("tool", item["output"], answers=(item["call_id"],)))
        elif kind == "message":
            made.append(message(item["role"], _text(item["content"])))
    return made


def _text(content: Any) -> str:
    return content if isinstance(content, str) else "".join(part.get("text", "") for part in content)


set_tracing_disabled(True)
MODEL, MEMORY = Fake(), memory()
SESSION, FILTER = MemorySession(memory=MEMORY), MemorySession(memory=MEMORY)
AGENTS = {
    name: Agent(
        name=name,
        instructions=told,
        model=MODEL,
        tools=[function_tool(look_up), function_tool(tell), *SESSION.tools],
    )
    for name, told in INSTRUCTIONS.items()
}


def take_turn(said: Said, script: Script) -> str:
    """Have the agent take a turn: in the session, or of a history that its caller holds."""
    MODEL.script, MODEL.thinks = script, said.agent == "main"
    named = {"thread_id": said.thread, "resource_id": said.resource}
    how: dict[str, Any] = {"context": {name: value for name, value in named.items() if value}}
    if said.again is None:
        asked: Any = said.say
        how |= {"session": SESSION, "run_config": RunConfig(call_model_input_filter=SESSION)}
    else:
        asked = [*said.again, {"role": "user", "content": said.say}]
        how |= {"hooks": FILTER, "run_config": RunConfig(call_model_input_filter=FILTER)}
    agent = AGENTS[said.agent]
    if said.mode == "stream":
        return asyncio.run(_streamed(agent, asked, how))
    if said.mode == "async":
        return str(asyncio.run(Runner.run(agent, asked, **how)).final_output)
    return str(Runner.run_sync(agent, asked, **how).final_output)


async def _streamed(agent: Any, asked: Any, how: Any) -> str:
    run = Runner.run_streamed(agent, asked, **how)
    async for _ in run.stream_events():
        pass
    return str(run.final_output)


serve(take_turn)

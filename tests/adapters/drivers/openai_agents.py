"""An agent of the OpenAI Agents SDK whose session is the memory, as its user would write it."""

import asyncio
import json
from collections.abc import AsyncIterator
from itertools import pairwise
from typing import Any
from uuid import uuid4

from agents import Agent, Model, ModelResponse, RunConfig, Runner, Usage, function_tool, set_tracing_disabled
from agents.models.fake_id import FAKE_RESPONSES_ID
from drivers.protocol import INSTRUCTIONS, Said, Script, look_up, memory, message, serve, tell
from openai.types import responses

from om_api.integrations.openai_agents import MemorySession


class Fake(Model):
    """Replies by the script of the turn: thinking before each call as a model of OpenAI's does, or without ids as others do."""

    thinks = True

    async def get_response(self, *given: Any, **named: Any) -> Any:
        """Asked by name, or in order where it streams."""
        asked = dict(zip(("system_instructions", "input", "model_settings", "tools"), given, strict=False)) | named
        check_thoughts(asked["input"])
        tools = [each.name for each in asked["tools"]]
        reply = Script.newest.reply(asked["system_instructions"] or "", normal(asked["input"]), tools)
        output: list[Any] = []
        if self.thinks and reply["calls"]:
            output.append(responses.ResponseReasoningItem(id=self._id("rs"), summary=[], type="reasoning"))
        if reply["text"] or not reply["calls"]:
            text = responses.ResponseOutputText(text=reply["text"], annotations=[], type="output_text")
            said = {"content": [text], "role": "assistant", "status": "completed", "type": "message"}
            output.append(responses.ResponseOutputMessage(id=self._id("msg"), **said))
        for each in reply["calls"]:
            call = {"call_id": each["id"], "name": each["name"], "arguments": json.dumps(each["args"])}
            output.append(responses.ResponseFunctionToolCall(id=self._id("fc"), **call, type="function_call"))
        return ModelResponse(output=output, usage=Usage(), response_id=None)

    async def stream_response(self, *given: Any, **named: Any) -> AsyncIterator[Any]:
        made = await self.get_response(*given, **named)
        whole = {"id": "r", "created_at": 0.0, "model": "fake", "object": "response", "output": made.output}
        whole |= {"tools": [], "tool_choice": "auto", "parallel_tool_calls": True}
        done = responses.Response(**whole)
        yield responses.ResponseCompletedEvent(response=done, type="response.completed", sequence_number=0)

    def _id(self, kind: str) -> str:
        return f"{kind}_{uuid4().hex}" if self.thinks else FAKE_RESPONSES_ID


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
            args = json.loads(item["arguments"])
            made[-1]["calls"].append({"id": item["call_id"], "name": item["name"], "args": args})
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
TOOLS = [function_tool(look_up), function_tool(tell), *SESSION.tools]
AGENTS = {n: Agent(name=n, instructions=told, model=MODEL, tools=TOOLS) for n, told in INSTRUCTIONS.items()}


def take_turn(said: Said) -> str:
    """Have the agent take a turn: in the session, or of a history that its caller holds."""
    MODEL.thinks = said.agent == "main"
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

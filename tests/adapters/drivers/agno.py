"""Agents of Agno, one with its own history in a database and one without, as their user would write them."""

import asyncio
import json
import logging
import sys
from collections.abc import AsyncIterator, Iterator
from typing import Any

from agno.agent import Agent
from agno.db.in_memory import InMemoryDb
from agno.models.base import Model
from agno.models.message import Message
from agno.models.response import ModelResponse
from drivers.protocol import INSTRUCTIONS, Said, Script, look_up, memory, message, serve, tell

from om_api.integrations.agno import with_memory

SCRIPTS: list[Script] = []
RAISED: list[BaseException | None] = []


class Raised(logging.Handler):
    """What Agno makes an output of, and logs: to stdout, which is the suite's."""

    def emit(self, _: logging.LogRecord) -> None:
        RAISED.append(sys.exc_info()[1])


logging.getLogger("agno").handlers = [Raised()]


class Fake(Model):
    """Replies by the script of the turn."""

    def invoke(self, messages: list[Message], tools: Any = None, **_: Any) -> ModelResponse:
        system = "".join(str(each.content) for each in messages[:1] if each.role == "system")
        sent = [normal(each) for each in messages[bool(system) :]]
        names = [each["function"]["name"] for each in tools or ()]
        reply = SCRIPTS[-1].reply(system, sent, names)
        calls = [
            {"id": c["id"], "type": "function", "function": {"name": c["name"], "arguments": json.dumps(c["args"])}}
            for c in reply["calls"]
        ]
        return ModelResponse(role="assistant", content=reply["text"] or None, tool_calls=calls)

    async def ainvoke(self, messages: list[Message], **given: Any) -> ModelResponse:
        return Fake.invoke(self, messages, **given)

    def invoke_stream(self, messages: list[Message], **given: Any) -> Iterator[ModelResponse]:
        whole = Fake.invoke(self, messages, **given)
        text, whole.content = whole.content or "", None
        yield from (ModelResponse(content=part) for part in (text[:5], text[5:]) if part)
        yield whole

    async def ainvoke_stream(self, messages: list[Message], **given: Any) -> AsyncIterator[ModelResponse]:
        for each in Fake.invoke_stream(self, messages, **given):
            yield each

    def _parse_provider_response(self, response: Any, **_: Any) -> ModelResponse:
        return response

    def _parse_provider_response_delta(self, response: Any) -> ModelResponse:
        return response


def normal(each: Message) -> dict[str, Any]:
    """A message as the suite compares it."""
    made = [(call["id"], call["function"]) for call in each.tool_calls or ()]
    calls = [{"id": name, "name": f["name"], "args": json.loads(f["arguments"])} for name, f in made]
    return message(each.role, each.get_content_string(), calls, (each.tool_call_id,) if each.tool_call_id else ())


MEMORY = memory()
MODEL = with_memory(Fake(id="fake"), MEMORY)
HISTORY: dict[str, dict[str, Any]] = {
    "main": {"db": InMemoryDb(), "add_history_to_context": True, "num_history_runs": 100},
    "other": {},
}
AGENTS = {
    name: Agent(model=MODEL, system_message=told, tools=[look_up, tell], telemetry=False, **HISTORY[name])
    for name, told in INSTRUCTIONS.items()
}


def take_turn(said: Said, script: Script) -> str:
    """Have the agent take a turn. An error of a model is told within the run's output."""
    SCRIPTS.append(script)
    RAISED.clear()
    asked: Any = [Message(**each) for each in said.again] if said.again else []
    asked = [*asked, Message(role="user", content=said.say)] if asked else said.say
    output = run(AGENTS[said.agent], said.mode, asked, {"session_id": said.thread, "user_id": said.resource})
    if output.status == "ERROR":
        raise RuntimeError(output.content) from next(filter(None, reversed(RAISED)), None)
    return str(output.messages[-1].content)


def run(agent: Agent, mode: str, asked: Any, where: dict[str, Any]) -> Any:
    """A run's output."""
    if mode == "stream":
        return [*agent.run(asked, stream=True, yield_run_output=True, **where)][-1]
    return asyncio.run(agent.arun(asked, **where)) if mode == "async" else agent.run(asked, **where)


serve(take_turn)

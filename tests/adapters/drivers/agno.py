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
        reply = Script.newest.reply(system, sent, names)
        made = [(c["id"], {"name": c["name"], "arguments": json.dumps(c["args"])}) for c in reply["calls"]]
        calls = [{"id": name, "type": "function", "function": function} for name, function in made]
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

    _parse_provider_response_delta = _parse_provider_response


def normal(each: Message) -> dict[str, Any]:
    """A message as the suite compares it."""
    made = [(call["id"], call["function"]) for call in each.tool_calls or ()]
    calls = [{"id": name, "name": f["name"], "args": json.loads(f["arguments"])} for name, f in made]
    return message(each.role, each.get_content_string(), calls, (each.tool_call_id,) if each.tool_call_id else ())


MEMORY = memory()
MODEL = with_memory(Fake(id="fake"), MEMORY)
HISTORY: Any = {"main": {"db": InMemoryDb(), "add_history_to_context": True, "num_history_runs": 100}, "other": {}}
AGENTS = {
    name: Agent(model=MODEL, system_message=told, tools=[look_up, tell], telemetry=False, **HISTORY[name])
    for name, told in INSTRUCTIONS.items()
}


def take_turn(said: Said) -> str:
    """Have the agent take a turn. An error of a model is told within the run's output."""
    RAISED.clear()
    asked: Any = [Message(**each) for each in said.again] if said.again else []
    asked = [*asked, Message(role="user", content=said.say)] if asked else said.say
    agent, where = AGENTS[said.agent], {"session_id": said.thread, "user_id": said.resource}
    if said.mode == "stream":
        *_, output = agent.run(asked, stream=True, yield_run_output=True, **where)
    else:
        output = asyncio.run(agent.arun(asked, **where)) if said.mode == "async" else agent.run(asked, **where)
    if output.status == "ERROR":
        raise RuntimeError(output.content) from next(filter(None, reversed(RAISED)), None)
    return str(output.messages[-1].content)


serve(take_turn)

"""An agent of LangChain with a checkpointer, as its user would write it."""

import asyncio
from typing import Any

from drivers.protocol import INSTRUCTIONS, Said, Script, look_up, memory, message, serve, tell
from langchain.agents import create_agent
from langchain_core.language_models.chat_models import BaseChatModel
from langchain_core.messages import AIMessage, BaseMessage
from langchain_core.outputs import ChatGeneration, ChatResult
from langchain_core.tools import tool
from langgraph.checkpoint.memory import InMemorySaver

from om_api.integrations.langchain import MemoryMiddleware


class Fake(BaseChatModel):
    """Replies by the script of the turn."""

    tools: Any = ()

    @property
    def _llm_type(self) -> str:
        return "fake"

    def bind_tools(self, tools: Any, **_: Any) -> Any:
        self.tools = [each.name for each in tools]
        return self

    def _generate(self, messages: list[BaseMessage], *_: Any, **__: Any) -> ChatResult:
        system = messages[0].text if messages and messages[0].type == "system" else ""
        sent = [normal(each) for each in messages[bool(system) :]]
        reply = Script.newest.reply(system, sent, self.tools)
        said = AIMessage(reply["text"], tool_calls=reply["calls"])
        return ChatResult(generations=[ChatGeneration(message=said)])


def normal(each: BaseMessage) -> dict[str, Any]:
    """A message as the suite compares it."""
    role = {"human": "user", "ai": "assistant"}.get(each.type, each.type)
    answers = (each.tool_call_id,) if role == "tool" else ()
    calls = [{"id": call["id"], "name": call["name"], "args": call["args"]} for call in getattr(each, "tool_calls", ())]
    return message(role, each.text, calls, answers)


MODEL, KEPT, MEMORY = Fake(), InMemorySaver(), memory()
TOOLS, MIDDLEWARE = [tool(look_up), tool(tell)], [MemoryMiddleware(MEMORY)]
AGENTS = {
    name: create_agent(MODEL, TOOLS, system_prompt=told, middleware=MIDDLEWARE, checkpointer=KEPT)
    for name, told in INSTRUCTIONS.items()
}


def take_turn(said: Said) -> str:
    """Have the agent take a turn."""
    agent = AGENTS[said.agent]
    named = {"thread_id": said.thread, "resource_id": said.resource}
    asked = {"messages": [*(said.again or ()), {"role": "user", "content": said.say}]}
    config = {"configurable": {name: value for name, value in named.items() if value}}
    if said.mode == "stream":
        *_, done = agent.stream(asked, config, stream_mode="values")
    else:
        done = asyncio.run(agent.ainvoke(asked, config)) if said.mode == "async" else agent.invoke(asked, config)
    return str(done["messages"][-1].text)


serve(take_turn)

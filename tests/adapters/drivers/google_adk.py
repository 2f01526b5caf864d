"""Agents of Google ADK with the plugin, and a session service that keeps their sessions, as their user would write it."""

import asyncio
from collections.abc import AsyncGenerator
from typing import Any

from drivers.protocol import INSTRUCTIONS, Said, Script, look_up, memory, message, serve, tell
from google.adk.agents import LlmAgent
from google.adk.agents.run_config import RunConfig, StreamingMode
from google.adk.apps import App
from google.adk.events import Event
from google.adk.models import BaseLlm, LlmRequest, LlmResponse
from google.adk.runners import Runner
from google.adk.sessions import InMemorySessionService
from google.genai.types import Content, FunctionCall, Part

from om_api.integrations.google_adk import MemoryPlugin


class Fake(BaseLlm):
    """Replies by the script of the turn."""

    model: str = "fake"

    async def generate_content_async(
        self, llm_request: LlmRequest, stream: bool = False
    ) -> AsyncGenerator[LlmResponse, None]:
        system = str(llm_request.config.system_instruction or "")
        sent = [each for content in llm_request.contents for each in normal(content)]
        reply = Script.newest.reply(system, sent, [*llm_request.tools_dict])
        if stream and reply["text"]:
            yield LlmResponse(content=Content(role="model", parts=[Part(text=reply["text"][:3])]), partial=True)
        text = [Part(text=reply["text"])] if reply["text"] else []
        calls = [Part(function_call=FunctionCall(**each)) for each in reply["calls"]]
        yield LlmResponse(content=Content(role="model", parts=[*text, *calls]), partial=False)


def normal(content: Content) -> list[dict[str, Any]]:
    """A content as the suite compares it: each result is a message. What another agent asked tools, ADK tells in words."""
    parts = content.parts or []
    results = [part.function_response for part in parts if part.function_response]
    given = [message("tool", str((each.response or {}).get("result")), answers=(each.id,)) for each in results]
    text = "\n".join(part.text for part in parts if part.text and " called tool `" not in part.text)
    calls = [{"id": call.id, "name": call.name, "args": call.args} for part in parts if (call := part.function_call)]
    said = [message("assistant" if content.role == "model" else "user", text, calls)] if text or calls else []
    return [*given, *said]


MODEL, KEPT, PLUGIN = Fake(), InMemorySessionService(), MemoryPlugin(memory())
AGENTS = [LlmAgent(name=n, model=MODEL, instruction=told, tools=[look_up, tell]) for n, told in INSTRUCTIONS.items()]
APPS = {agent.name: App(name="suite", root_agent=agent, plugins=[PLUGIN]) for agent in AGENTS}
RUNNERS = {name: Runner(app=app, session_service=KEPT) for name, app in APPS.items()}


def take_turn(said: Said) -> str:
    """Have the agent take a turn."""
    runner, user = RUNNERS[said.agent], said.resource or ""
    name = asyncio.run(_session(said, {"user_id": user, "session_id": said.thread}))
    asked = {"user_id": user, "session_id": name, "new_message": _content("user", said.say)}
    if said.mode == "sync":
        return _answer([*runner.run(**asked)])
    mode = StreamingMode.SSE if said.mode == "stream" else StreamingMode.NONE
    return asyncio.run(_run(runner, asked, RunConfig(streaming_mode=mode)))


async def _session(said: Said, place: dict[str, Any]) -> str:
    """The session's id; one that is new holds what the caller has of it."""
    found = said.thread and await KEPT.get_session(app_name="suite", **place)
    if not found:
        found = await KEPT.create_session(app_name="suite", **place)
        for each in said.again or ():
            role = "user" if each["role"] == "user" else "model"
            author = "user" if role == "user" else said.agent
            await KEPT.append_event(found, Event(author=author, content=_content(role, each["content"])))
    return found.id


async def _run(runner: Runner, asked: dict[str, Any], config: RunConfig) -> str:
    return _answer([event async for event in runner.run_async(**asked, run_config=config)])


def _content(role: str, text: str) -> Content:
    return Content(role=role, parts=[Part(text=text)])


def _answer(events: list[Event]) -> str:
    return "".join(part.text or "" for part in events[-1].content.parts)


serve(take_turn)

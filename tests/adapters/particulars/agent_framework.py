"""Agent Framework's own: other providers, stored sessions, messages used again, services that keep a talk, bare clients."""

import asyncio
import json
from typing import Any

import agent_framework as af
from agent_framework import Agent, AgentSession, Content, Message
from drivers.agent_framework import MEMORY, Fake
from drivers.protocol import look_up
from particulars import contents, run_checks, script_of

from om_api import InvalidInputError
from om_api.integrations.agent_framework import MemoryProvider


class Keeping(Fake):
    """A client whose service keeps conversations by itself."""

    STORES_BY_DEFAULT = True


class Bare(af.BaseChatClient[Any]):
    """A client without middleware."""

    async def _inner_get_response(self, **_: Any) -> af.ChatResponse:
        return af.ChatResponse(messages=[Message("assistant", ["x"])])


class Found(af.ContextProvider):
    """Another provider, which adds what it found."""

    async def before_run(self, *, context: Any, **_: Any) -> None:
        context.extend_messages(self, [Message("user", ["found elsewhere"])])


def agent(client: Any, *providers: Any, **options: Any) -> Agent[Any]:
    own = MemoryProvider(MEMORY, resource_id=lambda _: "harold")
    return Agent(client, "SYS", tools=[look_up], context_providers=[*providers, own], **options)


async def run(of: Agent[Any], said: Any, session: AgentSession, *replies: Any, **options: Any) -> list[dict[str, Any]]:
    """A run; what each call of the model was sent."""
    script = script_of(*replies)
    await of.run(said, session=session, **options)
    return script.calls


async def refused(of: Agent[Any], **options: Any) -> str:
    try:
        await of.run("hello", session=AgentSession(session_id="refused"), **options)
    except InvalidInputError as error:
        return str(error)
    raise AssertionError("it ran")


async def check_what_other_providers_add_is_shown_and_not_kept() -> None:
    calls = await run(agent(Fake(), Found("found")), "hello", AgentSession(session_id="others"), "hi")

    assert "found elsewhere" in str(calls[0]["messages"])
    assert contents(MEMORY, "others") == ["hello", "hi"]


async def check_a_message_that_is_used_again_is_said_again_and_stays_as_it_is() -> None:
    again, session = Message("user", ["ok"]), AgentSession(session_id="again")
    for _ in range(2):
        await run(agent(Fake()), again, session, "fine")

    assert contents(MEMORY, "again") == ["ok", "fine", "ok", "fine"]
    assert again.additional_properties == {}
    assert "messages" not in str(session.state)


async def check_a_session_that_was_stored_as_json_is_known_again() -> None:
    session, of = AgentSession(session_id="stored"), agent(Fake(), af.InMemoryHistoryProvider())
    for n in range(2):
        await run(of, f"u{n}", session, f"a{n}")
        session = AgentSession.from_dict(json.loads(json.dumps(session.to_dict())))

    assert contents(MEMORY, "stored") == ["u0", "a0", "u1", "a1"]
    assert len(session.state["in_memory"]["messages"]) == 4


async def check_pictures_are_kept_and_what_shows_them_is_taken() -> None:
    picture = Message("user", ["look", Content.from_data(b"abc", "image/png")])
    await run(agent(Fake()), picture, AgentSession(session_id="files"), "nice")
    calls = await run(agent(Fake()), "again", AgentSession(session_id="files"), "yes")

    assert [part["type"] for part in contents(MEMORY, "files")[0]] == ["text", "image"]
    assert [each["role"] for each in calls[0]["messages"]][:3] == ["user", "assistant", "user"]


async def check_what_a_service_would_keep_it_does_not() -> None:
    options: list[Any] = []
    client = Keeping()
    client._contents = lambda _, given: options.append(dict(given)) or [Content.from_text("x")]
    await agent(client).run("hello", session=AgentSession(session_id="service"))

    assert options[0]["store"] is False
    assert "keeps this conversation (True)" in await refused(agent(client), options={"store": True})
    assert "keeps this conversation (c-1)" in await refused(agent(client), options={"conversation_id": "c-1"})


async def check_what_cannot_be_is_refused() -> None:
    of = agent(Fake(), require_per_service_call_history_persistence=True)
    assert "require_per_service_call_history_persistence off" in await refused(of)
    bare = Agent(Bare(), context_providers=[MemoryProvider(MEMORY, resource_id="h")])
    assert "ChatMiddlewareLayer" in await refused(bare)


async def check_runs_at_once_are_kept_apart() -> None:
    of = agent(Fake())
    script_of(*"p" * 8)
    await asyncio.gather(*(of.run(f"run {n}", session=AgentSession(session_id=f"at-once-{n}")) for n in range(8)))

    assert [contents(MEMORY, f"at-once-{n}") for n in range(8)] == [[f"run {n}", "p"] for n in range(8)]


run_checks(globals())

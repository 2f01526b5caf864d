"""Agno's own: copies of an agent, summaries, teams, pictures, tools that fail, errors within an output, runs at once."""

import asyncio
import json

from agno.agent import Agent
from agno.db.in_memory import InMemoryDb
from agno.media import Image
from agno.team import Team
from drivers.agno import MEMORY, MODEL, Fake
from particulars import contents, run_checks, script_of

from om_api import InvalidInputError
from om_api.integrations.agno import with_memory

WHO = {"user_id": "harold"}


def broken() -> str:
    """Break."""
    raise RuntimeError("broken")


async def check_a_copy_of_an_agent_has_its_memory() -> None:
    script_of("hi")
    Agent(model=MODEL, telemetry=False).deep_copy().run("hello", session_id="copy", **WHO)

    assert isinstance(MODEL, Fake)
    assert contents(MEMORY, "copy") == ["hello", "hi"]


async def check_a_summary_of_a_session_is_no_part_of_the_talk() -> None:
    agent = Agent(model=MODEL, db=InMemoryDb(), enable_session_summaries=True, telemetry=False)
    calls = script_of("hi", json.dumps({"summary": "they met"})).calls
    agent.run("hello", session_id="summary", **WHO)

    assert len(calls) == 2
    assert contents(MEMORY, "summary") == ["hello", "hi"]


async def check_pictures_and_what_a_tool_failed_with_are_kept() -> None:
    agent = Agent(model=MODEL, tools=[broken], telemetry=False)
    script_of({"text": "I call", "calls": [{"id": "k1", "name": "broken", "args": {}}]}, "sorry")
    picture = [Image(content=b"abc", mime_type="image/png"), Image(url="https://example.org/a.png")]
    agent.run("look", images=picture, session_id="files", **WHO)

    found = contents(MEMORY, "files")
    assert [part["type"] for part in found[0]] == ["text", "image", "image"]
    assert found[2][0]["is_error"]
    assert found[3] == "sorry"


async def check_a_team_speaks_in_its_own_thread() -> None:
    script_of("together")
    team = Team(members=[Agent(name="one", model=MODEL, telemetry=False)], model=MODEL, telemetry=False)
    team.run("hello", session_id="team", **WHO)

    assert contents(MEMORY, "team") == ["hello", "together"]


async def check_asyncio_streams_and_runs_at_once_are_kept_apart() -> None:
    agent = Agent(model=MODEL, telemetry=False)
    script_of("streamed", *["p"] * 6)
    async for _ in agent.arun("hello", session_id="stream", stream=True, **WHO):
        pass
    await asyncio.gather(*(agent.arun(f"run {n}", session_id=f"at-once-{n}", **WHO) for n in range(6)))

    assert contents(MEMORY, "stream") == ["hello", "streamed"]
    assert [contents(MEMORY, f"at-once-{n}") for n in range(6)] == [[f"run {n}", "p"] for n in range(6)]


async def check_what_is_missing_is_told_in_the_output() -> None:
    script_of("x")
    output = Agent(model=MODEL, telemetry=False).run("hello", session_id="nobody")

    assert output.status == "ERROR"
    assert "user_id=" in str(output.content)


async def check_only_a_model_has_a_memory() -> None:
    told = ""
    try:
        with_memory("openai:gpt-5-mini", MEMORY)
    except InvalidInputError as error:
        told = str(error)

    assert "OpenAIChat" in told


run_checks(globals())

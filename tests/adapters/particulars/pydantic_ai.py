"""Pydantic AI's own: system prompts, deps, output tools, stored histories, files, retries, streams that are left."""

import asyncio
from dataclasses import dataclass
from typing import Any

from drivers.protocol import memory
from particulars import contents, run_checks
from pydantic import BaseModel
from pydantic_ai import Agent, BinaryContent, ImageUrl, ModelRetry
from pydantic_ai.messages import (
    ModelMessage,
    ModelMessagesTypeAdapter,
    ModelRequest,
    ModelResponse,
    TextPart,
    ThinkingPart,
    ToolCallPart,
)
from pydantic_ai.models.function import AgentInfo, FunctionModel

from om_api.integrations.pydantic_ai import MemoryCapability

MEMORY = memory()
REPLIES: list[ModelResponse] = []
SENT: list[tuple[list[ModelMessage], AgentInfo]] = []


class Number(BaseModel):
    n: int


@dataclass
class Deps:
    resource_id: str


def reply(messages: list[ModelMessage], info: AgentInfo) -> ModelResponse:
    SENT.append((messages, info))
    return REPLIES.pop(0)


async def stream(*_: Any) -> Any:
    for word in ("one ", "two ", "three"):
        yield word
        await asyncio.sleep(0.05)


MODEL = FunctionModel(reply, stream_function=stream)


def own_agent(**options: Any) -> Agent[Any, Any]:
    """An agent of harold's."""
    return Agent(MODEL, capabilities=[MemoryCapability(MEMORY, resource_id="harold", **options)])


def will_say(*replies: Any) -> None:
    """What the model replies next; a text stands for a reply that is nothing else."""
    REPLIES[:] = [ModelResponse([TextPart(each)] if isinstance(each, str) else each) for each in replies]


async def check_a_system_prompt_stays_and_the_memory_is_the_history_of_an_agent_with_an_output_tool() -> None:
    own = [MemoryCapability(MEMORY)]
    agent = Agent(MODEL, system_prompt="SYS", output_type=Number, deps_type=Deps, capabilities=own)
    results = []
    for n in (3, 4):
        will_say([ToolCallPart("final_result", {"n": n}, f"c{n}")])
        results.append(await agent.run(f"give {n}", conversation_id="output", deps=Deps("harold")))
    stored = ModelMessagesTypeAdapter.validate_json(results[-1].all_messages_json())
    will_say([ToolCallPart("final_result", {"n": 5}, "c5")])
    await agent.run("give 5", conversation_id="output", deps=Deps("harold"), message_history=stored)

    assert [each.output.n for each in results] == [3, 4]
    assert len(results[-1].all_messages()) == 3
    assert SENT[1][0][0].parts[0].part_kind == "system-prompt"
    assert [part.part_kind for part in SENT[-1][0][0].parts] == ["system-prompt", "user-prompt"]
    assert len(contents(MEMORY, "output")) == 9


async def check_no_note_is_in_the_history_or_its_instructions() -> None:
    agent = Agent(MODEL, instructions="INS", capabilities=[MemoryCapability(MEMORY, resource_id=lambda _: "harold")])
    will_say("done")
    MEMORY.add_messages([{"role": "user", "content": "before"}], resource_id="harold", thread_id="clean")
    result = await agent.run("now", conversation_id="clean")

    requests = [each for each in result.all_messages() if isinstance(each, ModelRequest)]
    assert [each.instructions for each in requests] == ["INS"]
    assert len(result.all_messages()) == 2
    assert SENT[-1][1].instructions == "INS"
    assert "before" in str(SENT[-1][0])


async def check_a_tool_that_raises_loses_nothing_that_was_said_before_it() -> None:
    agent = own_agent()

    @agent.tool_plain
    def broken() -> str:
        raise RuntimeError("broken")

    will_say([TextPart("I call"), ThinkingPart("hm"), ToolCallPart("broken", {}, "k1")])
    try:
        await agent.run("go", conversation_id="broken")
        raise AssertionError("it ran")
    except RuntimeError:
        pass
    will_say("fine")
    await agent.run("again", conversation_id="broken")

    assert contents(MEMORY, "broken")[0] == "go"
    assert [part["type"] for part in contents(MEMORY, "broken")[1]] == ["text", "reasoning", "tool-call"]
    assert contents(MEMORY, "broken")[2:] == ["again", "fine"]
    assert "hm" not in str(SENT[-1][0])


async def check_pictures_are_kept_and_shown_and_recall_may_be_left_out() -> None:
    agent = own_agent(recall=False)
    will_say("nice", "yes")
    picture = BinaryContent(b"abc", media_type="image/png")
    await agent.run(["look", ImageUrl("https://example.org/a.png"), picture], conversation_id="files")
    await agent.run("again", conversation_id="files")

    assert [part["type"] for part in contents(MEMORY, "files")[0]] == ["text", "image", "image"]
    assert b"abc" in [getattr(each, "data", None) for each in SENT[-1][0][0].parts[0].content]
    assert SENT[-1][1].function_tools == []


async def check_what_a_validator_says_is_part_of_the_talk() -> None:
    agent = own_agent()

    @agent.output_validator
    def no(output: str) -> str:
        if output == "bad":
            raise ModelRetry("not that")
        return output

    will_say("bad", "good")

    assert (await agent.run("say", conversation_id="retry")).output == "good"
    assert [str(each)[:4] for each in contents(MEMORY, "retry")] == ["say", "bad", "Your", "good"]


async def check_of_a_stream_that_is_left_what_was_heard_is_kept() -> None:
    agent = own_agent()
    async with agent.run_stream("hi", conversation_id="left") as result:
        async for _ in result.stream_text(delta=True, debounce_by=None):
            break

    assert contents(MEMORY, "left") == ["hi", "one "]


async def check_runs_at_once_are_kept_apart() -> None:
    agent = own_agent()
    will_say(*"p" * 8)
    await asyncio.gather(*(agent.run(f"run {n}", conversation_id=f"at-once-{n}") for n in range(8)))

    assert [contents(MEMORY, f"at-once-{n}") for n in range(8)] == [[f"run {n}", "p"] for n in range(8)]


run_checks(globals())

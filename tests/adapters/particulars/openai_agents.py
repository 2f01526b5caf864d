"""The Agents SDK's own: filters of hand-offs, a session's methods, approvals, other sessions, agents as tools, runs at once."""

import asyncio
from typing import Any

from agents import Agent, RunConfig, Runner, RunState, SessionSettings, SQLiteSession, function_tool, handoff
from agents.extensions.handoff_filters import remove_all_tools
from drivers.openai_agents import MEMORY, MODEL
from drivers.protocol import look_up
from particulars import called, run_checks, script_of, texts

from om_api.integrations.openai_agents import MemorySession

TOOL = function_tool(look_up)
BEE = Agent(name="bee", instructions="I am bee.", model=MODEL, tools=[TOOL])


def session(thread: str) -> MemorySession:
    return MemorySession(thread, MEMORY, resource_id="harold")


async def run(agent: Any, said: Any, memory: MemorySession, *replies: Any, **config: Any) -> tuple[Any, list[Any]]:
    """A run in the session; its result, and what each call of the model was sent, in short."""
    script = script_of(*replies)
    done = await Runner.run(agent, said, session=memory, run_config=RunConfig(call_model_input_filter=memory, **config))
    return done, [*map(short, script.calls)]


def short(call: dict[str, Any]) -> list[str]:
    sent = [each for each in call["messages"] if "<system-reminder" not in each["text"]]
    return [each["text"] or ",".join(asked["id"] for asked in each["calls"]) for each in sent]


async def check_what_a_handoffs_filter_takes_out_is_not_shown_to_who_takes_over_and_kept() -> None:
    memory = session("filtered")
    filtered = handoff(BEE, input_filter=remove_all_tools)
    ay = Agent(name="ay", instructions="I.", model=MODEL, tools=[TOOL], handoffs=[filtered])
    await run(ay, "first", memory, called("c1", key="k"), "one")
    _, calls = await run(ay, "second", memory, called("c2", "transfer_to_bee"), called("c3", key="q"), "two")

    assert calls[0] == ["first", "c1", "the value of k", "one", "second"]
    assert calls[1] == ["first", "one", "second"]
    assert calls[2] == ["first", "one", "second", "c3", "the value of q"]
    assert texts(MEMORY, "filtered")[:5] == ["first", "tool-call c1", "tool-result c1", "one", "second"]
    assert texts(MEMORY, "filtered")[-3:] == ["tool-call c3", "tool-result c3", "two"]


async def check_the_sdks_account_of_a_conversation_is_shown_and_not_kept() -> None:
    memory = session("nested")
    ay = Agent(name="ay", instructions="I.", model=MODEL, handoffs=[BEE])
    _, calls = await run(ay, "first", memory, called("c1", "transfer_to_bee"), "two", nest_handoff_history=True)

    assert len(calls[1]) == 1
    assert "<CONVERSATION HISTORY>" in calls[1][0]
    assert texts(MEMORY, "nested") == ["first", "tool-call c1", "tool-result c1", "two"]


async def check_what_is_taken_back_is_gone_and_may_be_said_again() -> None:
    memory = session("taken-back")
    await run(BEE, "a question", memory, "wrong")
    popped = [await memory.pop_item(), await memory.pop_item(), await memory.pop_item()]
    _, calls = await run(BEE, "a question", memory, "right")

    assert [each and each["role"] for each in popped] == ["assistant", "user", None]
    assert calls == [["a question"]]
    assert texts(MEMORY, "taken-back") == ["a question", "right"]


async def check_a_session_is_limited_and_cleared() -> None:
    memory = session("limited")
    await run(BEE, "one", memory, "1")
    _, calls = await run(BEE, "two", memory, "2", session_settings=SessionSettings(limit=1))
    newest = await memory.get_items(limit=1)
    await memory.clear_session()

    assert calls == [["1", "two"]]
    assert newest[0]["content"][0]["text"] == "2"
    assert await memory.get_items() == []
    assert (await run(BEE, "three", memory, "3"))[1] == [["three"]]


async def check_a_run_that_waits_for_an_approval_goes_on_in_another_process() -> None:
    @function_tool(needs_approval=True)
    def danger(key: str) -> str:
        return f"did {key}"

    ay = Agent(name="ay", instructions="I.", model=MODEL, tools=[danger])
    waiting, _ = await run(ay, "do it", session("approved"), called("c1", "danger", key="k"))
    state = await RunState.from_string(ay, waiting.to_state().to_string())
    state.approve(state.get_interruptions()[0])
    _, calls = await run(ay, state, session("approved"), "done")

    assert calls == [["do it", "c1", "did k"]]
    assert texts(MEMORY, "approved") == ["do it", "tool-call c1", "tool-result c1", "done"]


async def check_another_session_keeps_its_history_and_the_memory_its_own() -> None:
    memory, other = session("beside"), SQLiteSession("beside")
    config = RunConfig(call_model_input_filter=memory)
    for thinks, replies in ((True, [called("c1", key="k"), "yes"]), (False, [called("c2", key="k"), "yes"])):
        MODEL.thinks = thinks
        script_of(*replies)
        await Runner.run(BEE, "again", session=other, hooks=memory, run_config=config)
    MODEL.thinks = True

    once = ["again", "tool-call {}", "tool-result {}", "yes"]
    assert texts(MEMORY, "beside") == [each.format(name) for name in ("c1", "c2") for each in once]
    assert len(await other.get_items()) >= len(texts(MEMORY, "beside"))


async def check_what_an_agent_that_is_a_tool_is_asked_is_not_said_in_the_session() -> None:
    ay = Agent(name="ay", instructions="I.", model=MODEL, tools=[BEE.as_tool("ask_bee", "Ask bee.")])
    _, calls = await run(ay, "ask", session("tool"), called("c1", "ask_bee", input="well?"), "seven", "It is seven.")

    assert calls == [["ask"], ["well?"], ["ask", "c1", "seven"]]
    assert texts(MEMORY, "tool") == ["ask", "tool-call c1", "tool-result c1", "It is seven."]


async def check_runs_at_once_keep_what_each_of_them_says_once() -> None:
    memory = session("at-once")
    script_of(*["yes"] * 4)
    config = RunConfig(call_model_input_filter=memory)
    await asyncio.gather(*(Runner.run(BEE, f"at once {n}", session=memory, run_config=config) for n in range(4)))

    assert sorted(texts(MEMORY, "at-once")) == [f"at once {n}" for n in range(4)] + ["yes"] * 4


async def check_a_streamed_run_keeps_its_input_once_and_its_first_call_reads_it() -> None:
    memory = session("streamed")
    for n in range(2):
        script = script_of(f"yes {n}")
        config = RunConfig(call_model_input_filter=memory)
        streamed = Runner.run_streamed(BEE, f"say {n}", session=memory, run_config=config)
        async for _ in streamed.stream_events():
            pass

    assert short(script.calls[0]) == ["say 0", "yes 0", "say 1"]
    assert texts(MEMORY, "streamed") == ["say 0", "yes 0", "say 1", "yes 1"]


async def check_what_came_before_the_session_is_taken_over() -> None:
    memory = session("seeded")
    await memory.add_items([{"role": "user", "content": "old"}, {"role": "assistant", "content": "and old"}])

    assert (await run(BEE, "new", memory, "yes"))[1] == [["old", "and old", "new"]]


run_checks(globals())

"""Calls of this memory's own tools are neither indexed nor noted, by whichever door they came."""

import json

import pytest

from om_api import Message
from om_api.domain.tool_calls import MCP_TOOLS, RESERVED, OwnCalls, is_reserved
from om_api.domain.values import Scope
from om_api.mcp.toolbox import TOOLS
from om_api.store.index.reindex import reindex
from om_api.store.memory import scope_state

FACT = "My passport lies in the blue drawer."
CALL = {"id": "c-1", "type": "function", "function": {"name": "recall", "arguments": '{"query": "passport drawer"}'}}


def test_reserved_names_are_those_of_our_tools(world):
    tools = [world.om.recall_tool()]
    assert {tool["function"]["name"] for tool in tools} < RESERVED < MCP_TOOLS
    assert TOOLS.keys() == MCP_TOOLS
    for name, own in (
        *((name, True) for name in RESERVED),
        *(("mcp__anything__recall", True), ("mcp__memory__browse", True), ("mcp__cortex-om__status", True)),
        *(("mcp__github__status", False), ("recall_order", False), ("status", False), ("", False)),
    ):
        assert is_reserved(name) == own, name


def test_a_result_is_found_by_its_calls_id_until_another_call_has_it():
    own = OwnCalls()
    call, result = ({"type": kind, "tool_call_id": "c-1"} for kind in ("tool-call", "tool-result"))
    other = {**call, "name": "search"}
    said = [[{**call, "name": "recall"}], [result], [other], [result], [{**result, "name": "share_note"}]]
    left = [own.without(Message(role="tool", content=parts)).content for parts in said]
    assert left == [[], [], [other], [result], []]
    assert own.without(Message(role="tool", name="recall", content="x")).content == ""
    own.without(Message(role="tool", content=[{**call, "name": "recall"}]))
    assert own.open == ["c-1"]


def ask(world, n, plainly=False):
    """A question, the call, its answer and what the Actor says, as a client without an adapter stores them."""
    call = {**CALL, "id": f"c-{n}"}
    found = world.om.answer_recall(json.loads(CALL["function"]["arguments"]), "harold")
    turns = [
        {"role": "user", "content": f"Question {n}: where is my passport?"},
        {"role": "assistant", "content": None, "tool_calls": [call]},
        {"role": "tool", "tool_call_id": f"c-{n}", "content": found},
        {"role": "assistant", "content": "In the blue drawer."},
    ]
    if not plainly:
        world.om.add_messages(turns, thread_id="t-1", resource_id="harold")
        return found
    keys = world.services.keys
    key, at = keys.of("harold").messages("t-1"), 1_764_000_000_000 + 10 * n
    world.client.zadd(key, {json.dumps({"id": f"p-{n}-{m}", **turn}): at + m for m, turn in enumerate(turns)})
    world.client.zadd(keys.adopt, {key: 0})
    return found


def own_hits(world):
    hits = world.om.recall("passport drawer", "harold").hits
    return [hit.id for hit in hits if hit.role == "tool" or "tool call" in hit.text or "tool-" in str(hit.message)]


@pytest.mark.parametrize("plainly", [False, True])
def test_recall_does_not_find_its_own_calls_raw_or_in_segments(world, plainly):
    world.om.add_messages([{"role": "user", "content": FACT}], thread_id="t-1", resource_id="harold")
    answers = [ask(world, n, plainly) for n in range(4)]
    assert own_hits(world) == []
    assert not any("recall" in answer or "tool" in answer for answer in answers)
    world.settle()
    world.observe_now()
    keys = world.services.keys
    assert world.client.keys(keys.of("harold").segment("*").replace("{", "[{]"))
    assert own_hits(world) == []
    notes = "\n".join(each.text for each in world.om.observations("harold"))
    assert ("passport" in notes, "Thread t-1" in notes, "recall" in notes) == (True, False, False)


def test_a_late_result_is_matched_with_its_call_in_an_earlier_chunk(world):
    """The id of a call that is sealed without its result is stored with its thread; a reindexed chunk asks for it too."""

    def say(turn):
        world.om.add_messages([turn], thread_id="t-1", resource_id="harold")

    say({"role": "user", "content": "Where is my passport?", "timestamp": "2026-01-01T00:00:00Z"})
    say({"role": "assistant", "content": "By the crocus?", "tool_calls": [CALL], "timestamp": "2026-01-01T00:00:01Z"})
    (hit,) = world.om.recall("crocus", "harold").hits
    assert "tool-call" not in str(hit.message)
    world.observe_now()
    say({"role": "tool", "tool_call_id": "c-1", "content": f"tulip: {FACT}"})
    assert [hit.id for hit in world.om.recall("tulip", "harold").hits] == []
    world.observe_now()
    late = world.om.observations("harold")
    assert (len(late), "tulip" in late[-1].text) == (2, False)
    assert [hit.id for hit in world.om.recall("tulip", "harold").hits] == []
    world.client.delete(*(world.services.keys.of("harold").segment(each.id) for each in late))
    keys, scope = world.services.keys, Scope("harold")
    epoch = world.services.run(scope_state.look(keys, scope)).record.epoch
    assert world.services.run(reindex(keys, scope, epoch, ["t-1"], "auto", 10)) == 2
    assert [hit.id for hit in world.om.recall("tulip", "harold").hits] == []

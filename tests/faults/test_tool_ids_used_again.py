"""Agents that count their calls anew every turn (call_0): Anthropic refuses the context, and nothing can be cut."""

from world import World

from om_api.domain.chunking import RawMessage, sealable
from om_api.domain.policy import Limits


def _calls(house, n):
    for _ in range(n):
        call = {"type": "tool-call", "tool_call_id": "call_0", "name": "f", "args": {}}
        result = {"type": "tool-result", "tool_call_id": "call_0", "name": "f", "result": "ok"}
        from om_api import Message

        fields = {"thread_id": "t-1", "resource_id": "harold", "tokens": 10}
        house.om.add_message(Message(role="assistant", content=[call], **fields))
        house.om.add_message(Message(role="tool", content=[result], **fields))


def test_every_tool_use_of_an_anthropic_request_has_an_id_of_its_own(client, prefix):
    house = World(client, prefix)
    _calls(house, 3)
    parts = [part for message in house.context().as_anthropic()["messages"] for part in message["content"]]
    uses = [part["id"] for part in parts if part["type"] == "tool_use"]
    assert len(uses) == len(set(uses)) == 3
    assert [part["tool_use_id"] for part in parts if part["type"] == "tool_result"] == uses


def test_a_call_is_answered_by_the_next_result_of_its_id():
    turns = [
        RawMessage(100, 1, frozenset({"call_0"} if n % 2 == 0 else ()), frozenset({"call_0"} if n % 2 else ()))
        for n in range(8)
    ]
    assert sealable(turns, Limits(), 2) == [2, 4, 6, 8]

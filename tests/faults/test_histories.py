"""A history that did not only go on is found again, and kept once; calls whose ids are used again are told apart."""

from world import World

from om_api import Message
from om_api.domain.chunking import RawMessage, sealable
from om_api.domain.policy import Limits


def _sync(world, *texts):
    """By a client that remembers nothing; a text may have an id: "id=text"."""
    named = [text.rpartition("=")[::2] for text in texts]
    messages = [Message(role="user", content=text, id=name) for name, text in named]
    return type(world).face(world.settings, client=world.client).sync(messages, "harold", "t-1", diverged="keep")


def _texts(world):
    return [message.content for message in world.context().messages]


def test_a_history_that_did_not_only_go_on_is_found_again_and_kept_once(client, prefix_for):
    """What clients that remember nothing sync, one after the other; what the last one is told; what a context shows then."""
    four = ["one", "two", "three", "four"]
    rows = [
        ([["one", "m-2=two"]], ["uno", "m-2=two"], (0, 1, [0], 0), ["one", "two"]),
        ([["m-1=one", "m-2=two", "m-3=three"]], ["m-1=one", "m-2=dos", "m-3=three"], (0, 2, [1], 1), four[:3]),
        ([["three"], four], four, (0, 4, [], None), four),
        # the end, not the first "ok"
        ([["ok", "one", "two"]], ["two", "ok"], (1, 1, [], None), ["ok", "one", "two", "ok"]),
    ]
    for n, (before, last, told, shown) in enumerate(rows):
        world = World(client, prefix_for(n))
        for texts in before:
            _sync(world, *texts)
        synced = _sync(world, *last)
        changed = [synced.ids.index(each.id) for each in synced.changed]
        assert ((synced.added, synced.known, changed, synced.diverged_at), _texts(world)) == (told, shown), n


def test_positions_of_a_history_are_those_in_what_was_given(world):
    _sync(world, "m-1=one", "m-2=two")
    told = [Message(role="user", content=text, id=name) for name, text in {"m-1": "one", "m-2": "dos"}.items()]
    instructed = [Message(role="system", content="be brief"), *told]
    assert world.om.sync(instructed, "harold", "t-1").diverged_at == 2


def test_calls_that_have_one_id_each_turn_are_answered_by_the_next_result_of_it(world):
    """Breaks when an agent counts its calls anew every turn: Anthropic refuses the context, and nothing can be cut."""
    fields = {"thread_id": "t-1", "resource_id": "harold", "tokens": 10}
    call = {"type": "tool-call", "tool_call_id": "call_0", "name": "f", "args": {}}
    result = {"type": "tool-result", "tool_call_id": "call_0", "name": "f", "result": "ok"}
    for _ in range(3):
        world.om.add_message(Message(role="assistant", content=[call], **fields))
        world.om.add_message(Message(role="tool", content=[result], **fields))
    parts = [part for message in world.context().as_anthropic()["messages"] for part in message["content"]]
    uses = [part["id"] for part in parts if part["type"] == "tool_use"]
    one = frozenset({"call_0"})
    turns = [RawMessage(100, 1, *((frozenset(), one) if n % 2 else (one, frozenset()))) for n in range(8)]
    assert len(uses) == len(set(uses)) == 3
    assert [part["tool_use_id"] for part in parts if part["type"] == "tool_result"] == uses
    assert sealable(turns, Limits(), 2) == [2, 4, 6, 8]

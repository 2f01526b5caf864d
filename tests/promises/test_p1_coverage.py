"""P1: at every instant every accepted message is covered exactly once, raw or through exactly one observation."""

import json

import pytest
from world import World


def test_every_message_is_covered_exactly_once_at_every_look(world):
    said = []
    for n in range(60):
        said += world.say(f"message {n}")
        assert world.covering() == sorted(said)
        world.tick()
        assert world.covering() == sorted(said)


def test_the_context_holds_each_message_exactly_once_while_it_is_condensed(world):
    said = []
    for n in range(40):
        said += world.say(f"message {n}")
        world.tick()
        text = world.context().text
        raw = [message.id for message in world.context().messages]
        assert all((name in raw) + text.count(f"[{name}]") == 1 for name in said)


@pytest.mark.parametrize("scope", ["resource", "thread"])
def test_coverage_holds_through_generations_in_both_scopes(client, prefix, scope):
    world = World(client, prefix, scope=scope, observation_threshold="400", reflection__drain="false")
    said = [
        name for n in range(120) for name in world.say(f"message {n}", thread=f"t-{n % 2}") if not world.tick() or True
    ]
    world.settle()

    assert world.covering() == sorted(said)
    assert world.om.generations("harold")


def test_a_duplicate_adds_nothing_and_says_so(world):
    world.say("first", id="m-1")

    again = world.om.add_messages([_message(world, "m-1", "first")])

    assert (again.added, again.duplicates) == (0, ("m-1",))
    assert [message.content for message in world.context().messages] == ["first"]


def _message(world, name, text):
    from om_api import Message

    return Message(role="user", content=text, id=name, thread_id="t-1", resource_id="harold", tokens=100)


def test_a_message_of_a_plain_writer_is_covered_like_any_other(world):
    member = json.dumps({"id": "plain", "role": "user", "content": "hello from a socket"})
    world.client.zadd(f"{world.prefix}:{{harold}}:messages:t-1", {member: 1763600000000})
    world.client.zadd(f"{world.prefix}:adopt", {f"{world.prefix}:{{harold}}:messages:t-1": 0})

    world.sweep()
    world.om.force_observe("t-1", "harold")
    world.settle()

    assert world.covering() == ["plain"]
    assert "[plain]" in world.context().text


@pytest.mark.parametrize("state", ["raw", "sealed", "activated"])
def test_a_plain_copy_is_dropped_wherever_the_first_one_is_by_now(world, state):
    """Catches coverage decided by time: the copy is newer than everything observed, and yet covered already."""
    world.say(*[f"message {n}" for n in range(2)], tokens=100)
    world.client.zadd(
        f"{world.prefix}:{{harold}}:messages:t-1", {b'{"id":"p","role":"user","content":"plain"}': 1763600000000}
    )
    world.sweep()
    if state != "raw":
        world.om.force_observe("t-1", "harold")
        world.claim()
    if state == "activated":
        world.settle()
    elif state == "sealed":
        world.perform(*_first(world))

    world.client.zadd(
        f"{world.prefix}:{{harold}}:messages:t-1", {b'{"id":"p","role":"user","content":"plain"}': 1763600000000}
    )
    world.sweep()
    world.settle()

    assert world.covering().count("p") == 1


def _first(world):
    verb, ids = world.dispatch.queue.popleft()
    return verb, *ids


def test_turns_added_together_stay_in_order_whatever_their_ids(world):
    texts = [f"turn {n}" for n in range(20)]
    from om_api import Message

    world.om.add_messages(
        Message(role="user", content=text, id=f"id-{99 - n}", thread_id="t-1", resource_id="harold")
        for n, text in enumerate(texts)
    )

    assert [message.content for message in world.context().messages] == texts


@pytest.mark.parametrize("scope", ["resource", "thread"])
def test_a_forced_observation_of_all_threads_is_answered_in_both_scopes(client, prefix, scope):
    world = World(client, prefix, scope=scope)
    said = [name for n in range(3) for name in world.say(f"message {n}", thread=f"t-{n}")]

    assert world.om.force_observe(resource_id="harold") == "busy"
    world.settle()

    assert world.om.force_observe(resource_id="harold") == "rest"
    assert sorted(o.message_ids[0] for o in world.om.observations("harold")) == sorted(said)


def test_tool_calls_may_be_written_as_chat_completions_apis_write_them(world):
    from om_api import Message

    call = {"id": "c-1", "type": "function", "function": {"name": "search", "arguments": '{"q": "tea"}'}}
    place = {"thread_id": "t-1", "resource_id": "harold"}
    world.om.add_message(Message(role="assistant", content="", tool_calls=[call], **place))
    world.om.add_message(Message(role="tool", content="3 hits", tool_call_id="c-1", name="search", **place))

    asked, answered = world.context().messages
    assert asked.parts[-1] == {"type": "tool-call", "tool_call_id": "c-1", "name": "search", "args": {"q": "tea"}}
    assert answered.parts[0]["result"] == "3 hits"
    assert [message["role"] for message in world.context().as_openai()] == ["assistant", "tool"]


def test_an_undone_reflection_leaves_every_message_covered_once(world):
    names = world.say(*[f"message {n}" for n in range(12)])
    world.om.force_observe(None, "harold")
    world.settle()
    world.om.force_reflect("harold")
    world.settle()
    world.om.restore("harold", 0)

    assert world.covering() == sorted(names)
    assert all(f"message {n}" in world.context().text for n in range(12))
    assert world.om.verify() == []

"""P4: thresholds, limits and changed configuration decide when; a wrong policy wastes money, never messages."""

import msgspec
import pytest
from world import World, contents

from om_api import InvalidInputError, Message
from om_workers.llm.scripted import Scripted

_STRANGE = [
    {"message_threshold": "100", "observation_threshold": "100", "buffer_tokens": "1"},
    {"message_threshold": "100", "buffer_tokens": "99"},
    {"message_threshold": "5000", "buffer_activation": "1.0"},
    {"message_threshold": "1000", "block_after": "1.0", "min_recent_messages": "50"},
    {"message_threshold": "1000", "share_token_budget": "true"},
    {"max_observations": "1"},
    {"max_reflections": "1", "observation_threshold": "100", "reflection__drain": "true"},
]


@pytest.mark.parametrize("changed", _STRANGE, ids=lambda changed: " ".join(changed))
def test_no_setting_loses_or_doubles_a_message(client, prefix, changed):
    world = World(client, prefix, **changed)
    said = []
    for n in range(50):
        said += world.say(f"message {n}", tokens=97, thread=f"t-{n % 3}")
        world.tick()
        world.context(f"t-{n % 3}")
    world.settle()

    assert world.covering() == sorted(said)


def test_a_changed_scope_waits_until_it_is_migrated(client, prefix):
    world = World(client, prefix)
    said = world.say(*[f"message {n}" for n in range(12)]) + world.say("other", thread="t-2")
    world.settle()
    changed = World(client, prefix, scope="thread")

    assert changed.om.stats("harold").scope == "resource"
    assert changed.om.stats("harold").configured_scope == "thread"
    assert changed.om.migrate_scope("harold", "thread") == "activated"
    assert changed.om.stats("harold").scope == "thread"
    assert changed.covering() == sorted(said)


def test_a_scope_changed_with_chunks_in_flight_covers_everything_once(client, prefix):
    world = World(client, prefix)
    said = world.say(*[f"message {n}" for n in range(4)])
    world.claim()
    world.perform(*_next(world))  # sealed, not observed yet
    changed = World(client, prefix, scope="thread")

    assert changed.om.migrate_scope("harold", "thread") == "busy"

    said += changed.say(*[f"later {n}" for n in range(20)])
    changed.settle()
    assert changed.covering() == sorted(said)
    assert changed.om.stats("harold").scope == "resource"


def _next(world):
    verb, ids = world.dispatch.queue.popleft()
    return verb, *ids


def test_a_migrated_memory_reads_the_same_facts_in_every_thread(client, prefix):
    world = World(client, prefix, observation_threshold="300", reflection__drain="false")
    said = [name for n in range(60) for name in world.say(f"fact {n}", thread=f"t-{n % 2}")]
    world.settle()
    for to in ("thread", "resource"):
        world.settle()
        assert _until_moved(world, to) == "activated"
        text = "".join(world.context(f"t-{n}").text for n in range(2))
        assert all(name in text or name in _raw(world) for name in said)


class Generalising:
    """Reflects what it is given, and says of it what holds whatever the conversation."""

    name = "generalising"

    def __init__(self, echo):
        self._echo = echo

    def complete(self, request):
        reply = self._echo.complete(request)
        common = "* 🔴 (09:00) holds in every conversation\n</observations>"
        text = reply.text.replace("</observations>", common if request.purpose == "reflect" else "</observations>")
        return msgspec.structs.replace(reply, text=text)


@pytest.mark.parametrize("begins", ["resource", "thread"])
def test_a_memory_that_moves_there_and_back_reads_as_it_did(client, prefix, begins):
    """Ten threads once came back from it with each fact ten times."""
    other = "thread" if begins == "resource" else "resource"
    world = World(client, prefix, model=Generalising(Scripted.echo()), scope=begins)
    for n in range(40):
        world.say(f"fact {n}", thread=f"t-{n % 10}")
    for asked in (world.om.force_observe, world.om.force_reflect):
        for name in {f"t-{n}" if begins == "thread" else None for n in range(10)}:
            asked(thread_id=name, resource_id="harold")
        world.settle()
    before = _prefixes(world)

    assert [_until_moved(world, to) for to in (other, begins)] == ["activated", "activated"]
    assert _prefixes(world) == before
    assert any("holds in every conversation" in text for text in before[0])
    assert world.om.verify() == []


def _prefixes(world):
    """What stands before the messages in the contexts of ten threads."""
    return [[block.text for block in world.context(f"t-{n}").blocks if block.stable] for n in range(10)]


def _until_moved(world, to):
    outcome = world.om.migrate_scope("harold", to)
    return outcome if outcome == "activated" else world.settle() or world.om.migrate_scope("harold", to)


def _raw(world):
    return {message.id for n in range(2) for message in world.context(f"t-{n}").messages}


def test_a_read_only_memory_serves_contexts_and_nothing_is_written(client, prefix):
    world = World(client, prefix)
    world.say(*[f"message {n}" for n in range(12)])
    world.client.zadd(
        f"{prefix}:{{harold}}:messages:t-2", {b'{"id":"p","role":"user","content":"plain"}': 1763600000000}
    )
    reader = World(client, prefix, read_only="true")
    before = contents(client, f"{prefix}:{{*")

    assert reader.context().messages
    reader.tick()
    reader.sweep()
    with pytest.raises(InvalidInputError, match="read_only"):
        reader.say("no")

    assert contents(client, f"{prefix}:{{*") == before


@pytest.mark.parametrize("n", [6, 12])
def test_a_read_only_client_activates_nothing_of_what_others_work_at_whatever_model_it_names(client, prefix, n):
    """Catches a client that goes by what the memory's workers wrote down, who may write: what is due, and for another model."""
    cached = {"prompt_cache__timing": "cache", "prompt_cache__minimum": "0"}
    world = World(client, prefix, **cached)
    world.say(*[f"turn {n}" for n in range(n)])
    world.settle()
    world.context(model="gpt-5.2")
    reader = World(client, prefix, **cached, read_only="true")
    before = contents(client, f"{prefix}:{{*")
    reader.context(model="claude-sonnet-4-6")
    reader.om.close()

    assert contents(client, f"{prefix}:{{*") == before


@pytest.mark.parametrize("how", ["enabled", "paused"])
def test_a_disabled_or_paused_memory_keeps_messages_and_asks_no_model(client, prefix, how):
    world = World(client, prefix, **({"enabled": "false"} if how == "enabled" else {}))
    if how == "paused":
        world.om.pause("harold")
    said = world.say(*[f"message {n}" for n in range(20)])
    world.settle()

    assert [message.id for message in world.context().messages] == said
    assert world.model.requests == []


def test_a_resumed_memory_goes_on_where_it_was(world_paused):
    world_paused.om.resume("harold")
    world_paused.settle()

    assert world_paused.om.observations("harold")


@pytest.fixture
def world_paused(client, prefix):
    world = World(client, prefix)
    world.om.pause("harold")
    world.say(*[f"message {n}" for n in range(30)])
    world.settle()
    return world


def test_a_forced_observation_of_an_unanswered_call_is_answered_and_leaves_it_raw(client, prefix):
    world = World(client, prefix)
    call = Message(
        role="assistant",
        content=[{"type": "tool-call", "tool_call_id": "c-1", "name": "search", "args": {}}],
        thread_id="t-1",
        resource_id="harold",
    )
    world.om.add_message(call)
    assert world.om.force_observe("t-1", "harold") == "busy"
    world.settle()

    assert client.hkeys(f"{prefix}:{{harold}}:record") == []
    assert len(world.context().messages) == 1


def test_a_paused_memory_refuses_to_be_forced_and_says_how_to_resume(world_paused):
    with pytest.raises(InvalidInputError, match="om resume harold"):
        world_paused.om.force_observe("t-1", "harold")

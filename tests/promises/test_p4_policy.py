"""P4: thresholds, limits and changed configuration decide when; a wrong policy wastes money, never messages."""

import msgspec
import pytest
from world import World, contents

from om_api import InvalidInputError
from om_workers.llm.scripted import Scripted

_STRANGE = [{"message_threshold": "100", "observation_threshold": "100", "buffer_tokens": "1"},
    {"message_threshold": "5000", "buffer_activation": "1.0"},
    {"message_threshold": "1000", "block_after": "1.0", "min_recent_messages": "50"},
    {"message_threshold": "1000", "share_token_budget": "true", "max_observations": "1"},
    {"max_reflections": "1", "observation_threshold": "100", "reflection__drain": "true"}]  # fmt: skip


@pytest.mark.parametrize("changed", _STRANGE, ids=lambda changed: " ".join(changed))
def test_no_setting_loses_or_doubles_a_message(client, prefix, changed):
    world, said = World(client, prefix, **changed), []
    for n in range(24):
        said += world.say(f"message {n}", tokens=97, thread=f"t-{n % 3}")
        world.tick()
        world.context(f"t-{n % 3}")
    world.settle()
    assert world.covering() == sorted(said)


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


def test_a_disabled_memory_keeps_messages_serves_what_is_ready_and_asks_no_model(client, prefix):
    """Catches a switch that stops reads too, or that leaves out of sight what was ready when it was thrown."""
    world = World(client, prefix)
    said = world.say(*[f"message {n}" for n in range(12)])
    world.settle()
    assert any(chunk.ready for chunk in world.om.chunks("harold"))
    disabled = World(client, prefix, enabled="false")
    said += disabled.say(*[f"more {n}" for n in range(20)])
    disabled.settle()
    disabled.sweep()
    context = disabled.context()
    assert any(block.kind == "observations" for block in context.blocks)
    assert {message.id for message in context.messages} >= set(said[12:])
    disabled.settle()
    assert (disabled.model.requests, disabled.covering(), disabled.om.verify()) == ([], sorted(said), [])


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
    for n in range(12):
        world.say(f"fact {n}", thread=f"t-{n % 4}")
    for asked in (world.om.force_observe, world.om.force_reflect):
        for name in {f"t-{n}" if begins == "thread" else None for n in range(4)}:
            asked(thread_id=name, resource_id="harold")
        world.settle()
    before = _prefixes(world)
    assert [_until_moved(world, to) for to in (other, begins)] == ["activated", "activated"]
    assert _prefixes(world) == before
    assert any("holds in every conversation" in text for text in before[0])
    assert world.om.verify() == []


def _prefixes(world):
    return [[block.text for block in world.context(f"t-{n}").blocks if block.stable] for n in range(4)]


def _until_moved(world, to):
    outcome = world.om.migrate_scope("harold", to)
    return outcome if outcome == "activated" else world.settle() or world.om.migrate_scope("harold", to)

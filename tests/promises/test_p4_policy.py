"""P4: thresholds, limits and changed configuration decide when; a wrong policy wastes money, never messages."""

import pytest
from world import World, contents

from om_api import InvalidInputError

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

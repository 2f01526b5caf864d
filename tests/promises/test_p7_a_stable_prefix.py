"""P7: between reflections the observation part only grows at its end; between activations it is byte-identical."""

import pytest
from world import World


def _memory(context):
    return [
        block for block in context.blocks if block.kind in {"preamble", "reflection", "observations", "continuation"}
    ]


@pytest.mark.parametrize("scope", ["resource", "thread"])
def test_stable_blocks_only_grow_at_their_end_and_are_byte_identical_between_activations(client, prefix, scope):
    world = World(client, prefix, scope=scope, message_threshold="500")
    before, prefix_text = [], ""
    for n in range(25):
        world.say(f"message {n}")
        memory, observed = _memory(world.context()), [each.id for each in world.om.observations("harold", "t-1")]
        world.tick()
        context = world.context()
        if [each.id for each in context.observations] == observed and memory:
            assert [block.hash for block in _memory(context)] == [block.hash for block in memory]
        now = [block.hash for block in context.blocks if block.kind == "observations"]
        assert now[: len(before)] == before
        message = context.as_openai()[0]
        system = message["content"] if message["role"] == "system" else ""
        assert system.startswith(prefix_text)
        before, prefix_text = now, system
    assert len(before) >= 3


@pytest.mark.parametrize(("messages", "tokens"), [(11, 100), (110, 10), (4, 275)])
def test_a_burst_changes_the_prefix_once(client, prefix, messages, tokens):
    world = World(client, prefix)
    world.say(*(f"message {n}" for n in range(messages)), tokens=tokens)
    seen = {tuple(block.hash for block in _memory(world.context()))}
    for _ in range(30):
        world.claim()
        while world.dispatch.queue:
            world.perform(*world.next_task())
            seen.add(tuple(block.hash for block in _memory(world.context())))
    assert (len({each.activation for each in world.om.observations("harold")}), len(seen)) == (1, 2)
    assert world.om.stats("harold").observed_tokens >= 800

"""P7: between reflections the observation part only grows at its end; between activations it is byte-identical."""

import pytest
from world import World


def _memory(context):
    return [
        block for block in context.blocks if block.kind in {"preamble", "reflection", "observations", "continuation"}
    ]


@pytest.mark.parametrize("scope", ["resource", "thread"])
def test_stable_blocks_only_grow_at_their_end_between_reflections(client, prefix, scope):
    world = World(client, prefix, scope=scope)
    before: list[str] = []
    for n in range(60):
        world.say(f"message {n}")
        world.tick()
        now = [block.hash for block in world.context().blocks if block.kind == "observations"]
        assert now[: len(before)] == before
        before = now
    assert len(before) >= 3


def test_between_activations_every_stable_block_is_byte_identical(world):
    for n in range(45):
        world.say(f"message {n}", thread=f"t-{n % 2}")
        first = _memory(world.context())
        world.tick()
        second = _memory(world.context())
        grown = len(world.om.observations("harold"))
        if len(first) == len(second):
            assert [block.hash for block in first] == [block.hash for block in second]
        assert grown >= 0


@pytest.mark.parametrize(("messages", "tokens"), [(11, 100), (110, 10), (4, 275)])
def test_a_burst_changes_the_prefix_once(client, prefix, messages, tokens):
    world = World(client, prefix)
    world.say(*(f"message {n}" for n in range(messages)), tokens=tokens)
    seen = {tuple(block.hash for block in _memory(world.context()))}
    for _ in range(30):
        world.claim()
        while world.dispatch.queue:
            verb, ids = world.dispatch.queue.popleft()
            world.perform(verb, *ids)
            seen.add(tuple(block.hash for block in _memory(world.context())))

    assert len({each.activation for each in world.om.observations("harold")}) == 1
    assert len(seen) == 2
    assert world.om.stats("harold").observed_tokens >= 800


def test_the_system_text_of_a_later_call_begins_with_that_of_an_earlier_one(world):
    before = ""
    for n in range(45):
        world.say(f"message {n}")
        world.tick()
        messages = world.context().as_openai()
        system = messages[0]["content"] if messages[0]["role"] == "system" else ""
        assert system.startswith(before)
        before = system
    assert before

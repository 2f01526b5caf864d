"""P1: at every instant every accepted message is covered exactly once, raw or through exactly one observation."""

import pytest
from world import World


def test_every_message_is_covered_exactly_once_at_every_look(world):
    said = []
    for n in range(30):
        said += world.say(f"message {n}")
        assert world.covering() == sorted(said)
        world.tick()
        assert world.covering() == sorted(said)
        context = world.context()
        text, raw = context.text, [message.id for message in context.messages]
        assert all((name in raw) + text.count(f"[{name}]") == 1 for name in said)
    assert len(world.om.observations("harold")) > 3


@pytest.mark.parametrize("scope", ["resource", "thread"])
def test_coverage_holds_through_generations_in_both_scopes(client, prefix, scope):
    limits = {"message_threshold": "500", "observation_threshold": "200", "reflection__drain": "false"}
    world, said = World(client, prefix, scope=scope, **limits), []
    for n in range(40):
        said += world.say(f"message {n}", thread=f"t-{n % 2}")
        world.tick()
    world.settle()
    assert world.covering() == sorted(said)
    assert world.om.generations("harold", "t-1" if scope == "thread" else None)
